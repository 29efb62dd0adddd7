/** How an agent works: what the reference agent (deploy/agent) and the built-in runner (services/runner) do alike. */
export { ControlPlane, isGone, type Phase, type RegisteredAgent } from './control-plane.ts';
export { type PhasePart, type PhaseParts, performPhase, refusePhase } from './phase.ts';
export { recoverPhases, type Say } from './recovery.ts';
export { performRepositoryWork } from './repository-work.ts';
export {
  AGENT_SETTINGS_PREFIX,
  Interruption,
  LIMIT_GRACE_MS,
  type Tools,
} from './terraform.ts';
export { trustAuthority } from './trust.ts';
