/** How an agent works: what the reference agent (deploy/agent) and the built-in runner (services/runner) do alike. */
export {
  type ClaimedPhase,
  ControlPlane,
  isEgressLimited,
  isGone,
  type Phase,
  type RegisteredAgent,
} from './control-plane.ts';
export { clearPlace, executePhase, NotExecutable, type Place } from './execution/execution.ts';
export { isOpen, preparePlaces, requireConfinement, toToolFolders } from './execution/machine.ts';
export { ExecutionUnavailable, type Owner } from './owners/owners.ts';
export { performPhase, refusePhase } from './phase.ts';
export type { Program } from './program.ts';
export type { Say } from './recovery.ts';
export { performRepositoryWork } from './repository-work.ts';
export {
  AGENT_SETTINGS_PREFIX,
  findBinary,
  Interruption,
  LIMIT_GRACE_MS,
  type Tools,
  withoutAgentSettings,
} from './terraform.ts';
export { trustAuthority } from './trust.ts';
