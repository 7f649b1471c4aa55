/* pems-graph: makes, converts and describes graphs, and computes paths, ranks
   and trees in them. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "config.h"

#include "base/message.h"
#include "disk/file.h"
#include "os/standard.h"
#include "wrappers/graph/pems_graph_commands.h"

static const struct command {
  const char *name;
  int (*run)(int argc, char **argv);
  const char *operands, *help;
} commands[] = {
    {"convert", graph_convert, "IN OUT", "writes a graph in another format"},
    {"generate", graph_generate, "KIND -o OUT",
     "makes a graph up: road, rmat or uniform"},
    {"info", graph_info, "GRAPH", "tells what a graph is like"},
    {"sssp", graph_sssp, "GRAPH", "shortest paths from a node to all others"},
    {"bfs", graph_bfs, "GRAPH", "the fewest edges from a node to each other"},
    {"pagerank", graph_pagerank, "GRAPH", "the rank of each node"},
    {"mst", graph_mst, "GRAPH", "a minimum spanning tree, or forest"},
    {"astar", graph_astar, "GRAPH", "the shortest path between two nodes"},
};
enum { COMMANDS = sizeof(commands) / sizeof(*commands) };

static void help(FILE *to) {
  fputs("usage: pems-graph COMMAND [options] ...\n\n"
        "Makes, converts and describes graphs, and computes paths, ranks and\n"
        "trees in them, also where edges do not fit in memory.\n\n"
        "Commands (pems-graph COMMAND --help tells their options):\n",
        to);
  for (int i = 0; i < COMMANDS; i++) {
    fprintf(to, "  %-9s %-12s %s\n", commands[i].name, commands[i].operands,
            commands[i].help);
  }
  fputs("\nOptions:\n"
        "  --help                    print this (-h)\n"
        "  --version                 print the version (-V)\n\n"
        "See pems-graph(1).\n",
        to);
}

static int is(const char *word, const char *name, const char *letter) {
  return strcmp(word, name) == 0 || strcmp(word, letter) == 0;
}

int main(int argc, char **argv) {
  standard_occupy();
  if (argc < 2) {
    help(stderr);
    return MSG_USAGE;
  }
  if (is(argv[1], "--help", "-h")) {
    help(stdout);
    return 0;
  }
  if (is(argv[1], "--version", "-V")) {
    puts("pems-graph (pems) " PACKAGE_VERSION);
    return 0;
  }
  disk_file_unlink_at_signals();
  for (int i = 0; i < COMMANDS; i++) {
    if (strcmp(commands[i].name, argv[1]) == 0) {
      return commands[i].run(argc - 1, argv + 1);
    }
  }
  msg_fail(MSG_USAGE,
           "command: %s: there is none of that name: see pems-graph "
           "--help",
           argv[1]);
}
