/* A plug-in with more data than there is room for beside all ranks'. */
char large_data[40 << 20] = {1};

int large_sum(void) {
  int sum = 0;
  for (unsigned i = 0; i < sizeof(large_data); i += 4096) {
    large_data[i]++;
    sum += large_data[i];
  }
  return sum;
}
