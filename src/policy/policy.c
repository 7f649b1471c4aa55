#include "policy/policy.h"

const struct policy *const policy_table[] = {
#define POLICY_ADDRESS(name) &policy_##name,
    POLICIES(POLICY_ADDRESS)
#undef POLICY_ADDRESS
};
