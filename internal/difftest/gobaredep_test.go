package difftest

// Generated companion files import go-bare, and tests build them inside this
// module: this keeps it among the module's requirements.
import _ "git.sr.ht/~sircmpwn/go-bare"
