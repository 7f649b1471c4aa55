/* A library with state of every kind. */
extern int counter_value;            /* data that the program touches */
extern __thread int counter_thread;  /* thread-local data, too */
extern int (*counter_function)(int); /* a pointer to a function of its own */
extern int *const counter_address;   /* read-only after relocation */
int counter_next(void);
int counter_thread_data(int by); /* how much of it is wrong */
int counter_constructed(void);   /* how often the constructor ran */
char *counter_text(const char *name);
int counter_sum(int mine); /* over all ranks, by messages of its own */
int counted_sum(int mine); /* the other library's, by way of this one */
int counted_constructed(void);
int chooser_thrice(int n); /* 3 n, and how often it was called */
int chooser_call(int n);   /* three times that */
int counted_seen(void);
