/** Where phases are executed: by processes of the agent, or each in a Job of Kubernetes (`kubernetes/`). */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  Interruption,
  type Phase,
  type PhaseParts,
  performPhase,
  recoverPhases,
  type Say,
} from '@keelson/agent';

export interface Execution {
  /** Lets the tool finish what it has started, and store the state. */
  interrupt(): void;
  /** Resolves when the outcome is reported. */
  readonly ended: Promise<unknown>;
}

export interface PhaseExecutor {
  /** Ends what an agent before this one has left. */
  recover(say: Say): Promise<void>;
  begin(phase: Phase): Execution;
}

/** @param folder for the phases */
export const executeInProcesses = (parts: PhaseParts, folder: string): PhaseExecutor => ({
  recover: async (say) => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await recoverPhases(folder, say);
  },
  begin: (phase) => {
    const interruption = new Interruption();
    const name = `${phase.runId}-${phase.attributes.phase}`;
    return {
      interrupt: () => interruption.cancel(),
      ended: performPhase(parts, phase, join(folder, name), interruption),
    };
  },
});
