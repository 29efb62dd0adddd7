import type { WorkspacesContext } from '../../workspaces/seams/workspaces-context.ts';
import type { ContentContext } from '../contents/state-content-operations.ts';
import type { StateContribution } from './state-contributions.ts';
import type { StateSteps } from './state-steps.ts';

/** Context of the operations of this module. */
export interface StateContext extends WorkspacesContext, ContentContext {
  readonly stateSteps: readonly StateSteps[];
  readonly stateContributions: readonly StateContribution[];
}
