/* The commands of pems-graph. Each is given the words from its own name on, and
   returns the exit status. */
#ifndef PEMS_WRAPPERS_PEMS_GRAPH_COMMANDS_H
#define PEMS_WRAPPERS_PEMS_GRAPH_COMMANDS_H

int graph_convert(int argc, char **argv);
int graph_generate(int argc, char **argv);
int graph_info(int argc, char **argv);
int graph_sssp(int argc, char **argv);
int graph_bfs(int argc, char **argv);
int graph_pagerank(int argc, char **argv);
int graph_mst(int argc, char **argv);
int graph_astar(int argc, char **argv);

#endif
