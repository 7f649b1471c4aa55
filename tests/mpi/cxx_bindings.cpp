// Open MPI's C++ bindings: objects for handles, callbacks in C++, exceptions
// that MPI functions throw.
#include <mpi.h>

#include <cstdio>
#include <cstring>
#include <vector>

#if defined OMPI_MPI_H && OMPI_MAJOR_VERSION < 5 && !defined OMPI_SKIP_MPICXX

namespace {

int failures, rank, size;

void check(bool good, const char *what) {
  if (!good) {
    failures++;
    std::printf("rank %d: FAIL: %s\n", rank, what);
  }
}

void first(const void *in, void *inout, int n, const MPI::Datatype &type) {
  check(type == MPI::INT, "type in the operation");
  std::memcpy(inout, in, n * sizeof(int));
}

void point_to_point() {
  const int next = (rank + 1) % size, last = (rank + size - 1) % size;
  std::vector<int> in(10), out(10, rank);
  MPI::Request requests[2] = {
      MPI::COMM_WORLD.Irecv(in.data(), 10, MPI::INT, last, 1),
      MPI::COMM_WORLD.Isend(out.data(), 10, MPI::INT, next, 1)};
  MPI::Status statuses[2];
  MPI::Request::Waitall(2, requests, statuses);
  check(in[9] == last && statuses[0].Get_source() == last, "isend, irecv");
  check(statuses[0].Get_count(MPI::INT) == 10, "count");
  MPI::Prequest again = MPI::COMM_WORLD.Recv_init(in.data(), 10, MPI::INT,
                                                  MPI::ANY_SOURCE, 2);
  again.Start();
  MPI::COMM_WORLD.Send(out.data(), 10, MPI::INT, next, 2);
  again.Wait();
  again.Free();
}

void collectives() {
  std::vector<double> all(size);
  const double mine = rank / 2.0;
  MPI::COMM_WORLD.Allgather(&mine, 1, MPI::DOUBLE, all.data(), 1, MPI::DOUBLE);
  check(all[size - 1] == (size - 1) / 2.0, "allgather");
  MPI::Op op;
  op.Init(first, false);
  int value = rank + 5, result = 0;
  MPI::COMM_WORLD.Allreduce(&value, &result, 1, MPI::INT, op);
  check(result == 5, "operation");
  op.Free();
  MPI::Intracomm half = MPI::COMM_WORLD.Split(rank % 2, rank);
  check(half.Get_size() == (size + 1 - rank % 2) / 2, "split");
  half.Free();
  const int dims[1] = {size};
  const bool periods[1] = {true};
  MPI::Cartcomm ring = MPI::COMM_WORLD.Create_cart(1, dims, periods, false);
  int source, dest;
  ring.Shift(0, 1, source, dest);
  check(dest == (rank + 1) % size, "shift");
  MPI::Cartcomm copy = ring.Dup();
  check(copy.Get_topology() == MPI::CART, "topology");
  copy.Free();
  ring.Free();
  MPI::Group world = MPI::COMM_WORLD.Get_group();
  check(world.Get_rank() == rank, "group");
  world.Free();
}

int deleted;

int copy_attribute(const MPI::Comm &, int, void *extra, void *in, void *out,
                   bool &flag) {
  *static_cast<void **>(out) = static_cast<char *>(in) + *static_cast<int *>(extra);
  flag = true;
  return MPI::SUCCESS;
}

int delete_attribute(MPI::Comm &, int, void *, void *) {
  deleted++;
  return MPI::SUCCESS;
}

void attributes() {
  static char place[100];
  int by = 5;
  void *value = nullptr;
  const int key =
      MPI::Comm::Create_keyval(copy_attribute, delete_attribute, &by);
  MPI::COMM_WORLD.Set_attr(key, place);
  MPI::Intracomm comm = MPI::COMM_WORLD.Dup();
  check(comm.Get_attr(key, &value) && value == place + 5, "attribute");
  comm.Free();
  check(deleted == 1, "deleted");
  MPI::COMM_WORLD.Delete_attr(key);
  int copy = key;
  MPI::Comm::Free_keyval(copy);
  check(MPI::COMM_WORLD.Get_attr(MPI::TAG_UB, &value), "tag_ub");
}

int copy_type_attribute(const MPI::Datatype &type, int, void *extra, const void *in,
                        void *out, bool &flag) {
  check(type.Get_size() == 12, "type of the copy");
  *static_cast<const void **>(out) =
      static_cast<const char *>(in) + *static_cast<int *>(extra);
  flag = true;
  return MPI::SUCCESS;
}

int delete_type_attribute(MPI::Datatype &, int, void *, void *) {
  deleted++;
  return MPI::SUCCESS;
}

void type_attributes() {
  static char place[100];
  int by = 7;
  void *value = nullptr;
  deleted = 0;
  int key = MPI::Datatype::Create_keyval(copy_type_attribute,
                                         delete_type_attribute, &by);
  MPI::Datatype type = MPI::INT.Create_contiguous(3);
  type.Set_attr(key, place);
  MPI::Datatype twin = type.Dup();
  check(twin.Get_attr(key, &value) && value == place + 7, "type's attribute");
  twin.Free();
  type.Delete_attr(key);
  check(deleted == 2, "type's attributes deleted");
  type.Free();
  MPI::Datatype::Free_keyval(key);
}

int handled;

void handler(MPI::Comm &comm, int *code, ...) {
  handled = MPI::Get_error_class(*code);
  check(comm.Get_size() == size, "communicator of the handler");
}

void errors() {
  MPI::Intracomm comm = MPI::COMM_WORLD.Dup();
  MPI::Errhandler own = MPI::Comm::Create_errhandler(handler);
  comm.Set_errhandler(own);
  comm.Send(&rank, 1, MPI::INT, size + 2, 0);
  check(handled == MPI::ERR_RANK, "handler");
  own.Free();
  comm.Set_errhandler(MPI::ERRORS_THROW_EXCEPTIONS);
  for (int round = 0; round < 3; round++) {
    // Debian's library was built without exceptions and sets mpi_errno.
    int code = MPI::SUCCESS;
    try {
      comm.Send(&rank, 1, MPI::INT, size + 2, 0);
      code = MPI::mpi_errno;
    } catch (MPI::Exception &e) {
      code = e.Get_error_code();
    }
    check(MPI::Get_error_class(code) == MPI::ERR_RANK, "exception");
    // The call that threw is over: memory is the rank's again.
    std::vector<int> more(1000, rank);
    MPI::COMM_WORLD.Barrier();
    check(more[999] == rank, "memory after an exception");
  }
  comm.Free();
}

} // namespace

int main(int argc, char **argv) {
  MPI::Init(argc, argv);
  rank = MPI::COMM_WORLD.Get_rank();
  size = MPI::COMM_WORLD.Get_size();
  point_to_point();
  collectives();
  attributes();
  type_attributes();
  errors();
  std::printf("rank %d of %d: %d failures\n", rank, size, failures);
  MPI::Finalize();
  return failures != 0;
}

#else

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  std::printf("no C++ bindings\n");
  return MPI_Finalize();
}

#endif
