/** CPU profiles as V8 writes them, and the time that each capability took in one. */

export interface CallFrame {
  readonly functionName: string;
  /** Address of the source, or "" for code of the engine. */
  readonly url: string;
}

interface ProfileNode {
  readonly id: number;
  readonly callFrame: CallFrame;
  readonly children?: readonly number[];
}

/** The parts of a `.cpuprofile` that are read; times in microseconds. */
export interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/** Microseconds by name. */
type Times = ReadonlyMap<string, number>;

/**
 * Divides the time of a profile.
 * @param nameOf names that to which a sample belongs, by its calls from the innermost to the outermost
 */
export const divideTime = (
  { nodes, samples, timeDeltas }: CpuProfile,
  nameOf: (frames: readonly CallFrame[]) => string,
): Times => {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const callers = new Map(
    nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])),
  );
  const names = new Map<number, string>();
  const find = (sample: number): string => {
    const frames: CallFrame[] = [];
    for (let id: number | undefined = sample; id !== undefined; id = callers.get(id)) {
      const node = byId.get(id);
      if (node !== undefined) frames.push(node.callFrame);
    }
    return nameOf(frames);
  };
  const times = new Map<string, number>();
  for (const [index, sample] of samples.entries()) {
    const name = names.get(sample) ?? find(sample);
    names.set(sample, name);
    // The time up to the next sample is that of this one.
    const microseconds = Math.max(0, timeDeltas[index + 1] ?? 0);
    times.set(name, (times.get(name) ?? 0) + microseconds);
  }
  return times;
};
