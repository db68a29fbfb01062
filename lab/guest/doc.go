// Package guest has tests of what the lab's machines show to programs: that a preset is what it says. They run in a
// guest only: see package lab, and build tag lab.
package guest
