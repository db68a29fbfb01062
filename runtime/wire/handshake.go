package wire

// RerunBarewireGenOrUpdateRuntime1 ties generated code to this generation of
// the runtime. Where a build says that it is undefined, the generated code and
// the module in go.mod do not belong together: run barewire-gen again, or
// update the module.
const RerunBarewireGenOrUpdateRuntime1 = true
