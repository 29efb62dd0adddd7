/** A slot executes one phase after the other: it asks for work, and has it executed in its place. */
import { setTimeout as pause } from 'node:timers/promises';
import {
  type ClaimedPhase,
  type ControlPlane,
  clearPlace,
  executePhase,
  isGone,
  NotExecutable,
  type Phase,
  type Place,
} from '@keelson/agent';
import type { Logger } from '@keelson/logging';
import { VERSION } from '@keelson/runtime';
import {
  explainMissing,
  listReleases,
  type ToolPlaces,
  type ToolRelease,
} from '../tools/tool-releases.ts';
import { unpackRelease } from '../tools/zip-files.ts';

export interface SlotParts {
  /** "slot-1". */
  readonly name: string;
  readonly place: Place;
  readonly controlPlane: ControlPlane;
  readonly tools: ToolPlaces;
  readonly pollMs: number;
  readonly mayHaveWork: () => Promise<boolean>;
  readonly logger: Logger;
}

/** As agents do: a minute of silence ends the phase. */
const PING_MS = 10_000;

const rest = (delayMs: number, signal: AbortSignal): Promise<void> =>
  pause(delayMs, undefined, { signal }).catch(() => undefined);

const findTool = async (
  { tools, place }: SlotParts,
  { attributes }: Phase,
  releases: readonly ToolRelease[],
): Promise<string> => {
  const wanted = releases.find(({ version }) => version === attributes['runtime-version']);
  const release = wanted ?? (tools.acceptsOther ? releases[0] : undefined);
  if (release === undefined)
    throw new NotExecutable(
      explainMissing(attributes['runtime-version-constraint'], tools, releases),
    );
  if (release.kind === 'program') return release.file;
  return unpackRelease(release, place.folder.root).catch((error: unknown) => {
    throw new NotExecutable(error instanceof Error ? error.message : String(error));
  });
};

const ping = async ({ controlPlane, logger }: SlotParts, agentId: string, signal: AbortSignal) => {
  while (!signal.aborted) {
    await rest(PING_MS, signal);
    if (signal.aborted) return;
    await controlPlane.ping(agentId).catch((error: unknown) => {
      // The control plane has ended the phase, which the executor learns from its own requests as
      // well.
      if (!isGone(error)) logger.warn({ err: error }, 'ping');
    });
  }
};

const work = async (
  parts: SlotParts,
  phase: ClaimedPhase,
  releases: readonly ToolRelease[],
  signal: AbortSignal,
): Promise<void> => {
  const { runId, attributes } = phase;
  parts.logger.info({ run: runId, phase: attributes.phase }, 'a phase begins');
  const over = new AbortController();
  const pings = ping(parts, phase.agentId, over.signal);
  try {
    await executePhase(parts.place, phase, () => findTool(parts, phase, releases), signal);
  } finally {
    over.abort();
    await pings;
  }
};

/** Ends the phase that an earlier process of the runner had started. */
const clear = ({ place, controlPlane }: SlotParts): Promise<void> =>
  clearPlace(place, async (agentId) => {
    await controlPlane.ping(agentId, 'exited').catch((error: unknown) => {
      if (!isGone(error)) throw error;
    });
  });

/** Serves until `signal` aborts. An outage of the control plane is logged once, and waited out. */
export const serveSlot = async (parts: SlotParts, signal: AbortSignal): Promise<void> => {
  const { name, controlPlane, tools, place, pollMs, mayHaveWork, logger } = parts;
  let isCleared = false;
  let fault: string | undefined;
  while (!signal.aborted) {
    try {
      if (!isCleared) await clear(parts);
      isCleared = true;
      if (!(await mayHaveWork())) {
        await rest(pollMs, signal);
        continue;
      }
      const releases = await listReleases(tools, place.owner);
      const versions = [...new Set(releases.map(({ version }) => version))];
      const phase = await controlPlane.claimAsRunner(name, VERSION, versions);
      if (fault !== undefined) logger.info('the control plane gives work again');
      fault = undefined;
      if (phase === undefined) await rest(pollMs, signal);
      else await work(parts, phase, releases, signal);
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      if (text !== fault) logger.warn({ err: error }, 'the control plane gives no work');
      fault = text;
      await rest(pollMs, signal);
    }
  }
};
