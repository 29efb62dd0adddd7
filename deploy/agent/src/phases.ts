/** How phases are executed, for the built-in runner (services/runner). */
export { ControlPlane, isGone, type Phase } from './control-plane.ts';
export { performPhase, refusePhase } from './phase.ts';
export { recoverPhases } from './recovery.ts';
export { Interruption, LIMIT_GRACE_MS } from './terraform.ts';
export { trustAuthority } from './trust.ts';
