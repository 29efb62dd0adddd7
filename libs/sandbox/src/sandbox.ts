/** Programs that strangers have written are executed in a sandbox of Linux, made by bubblewrap. */
export { type SandboxFile, type SandboxOptions, toSandboxCommand } from './command.ts';
export {
  type ControlGroup,
  type ControlGroupLimits,
  type ControlGroups,
  ControlGroupsUnavailable,
  openControlGroups,
} from './control-groups.ts';
export { writeIdentityFiles } from './identity-files.ts';
export { type Egress, type EgressOptions, openEgress } from './network/egress.ts';
export { requireRanges } from './network/ranges.ts';
export type { Endpoint, Way } from './network/way.ts';
export { isUsable, probeSandbox, type SandboxFinding, whyUnusable } from './probe.ts';
export { SOURCES } from './sources.ts';
export { writeSystemCallFilter } from './system-calls.ts';
