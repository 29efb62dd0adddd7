/**
 * Reads a state file while it arrives, a few values at a time, so that a file of 100 MB is never in memory as
 * a whole and no chunk delays other requests.
 */
import { KeelsonError } from '@keelson/errors';
import { JSONParser, TokenType } from '@streamparser/json';
import type { InstanceDigest } from './domain/instance-changes.ts';
import {
  countManaged,
  MAX_INSTANCE_KEYS,
  MAX_OUTPUTS,
  MAX_RESOURCES,
  type StateOutput,
  type StateResource,
  type StateSummary,
  toInstanceDigests,
  toStateOutput,
  toStateResource,
} from './domain/state-summary.ts';

/** Summary of a state, with the number of instances it manages, including those not listed. */
export interface ReadSummary extends StateSummary {
  readonly managedCount: number;
}

export interface StateSummaryReader {
  /** @throws KeelsonError `workspace.state_malformed` */
  write(chunk: Uint8Array): void;
  /** @throws KeelsonError `workspace.state_malformed` when the file ends too early */
  end(): ReadSummary;
}

/**
 * Deeper than states of any provider. The parser compares each value with all that it lies in, so that a text nested
 * 40,000 times, of 80 KB, would occupy the process for seconds.
 */
const MAX_DEPTH = 1000;

const SCALARS = ['version', 'terraform_version', 'serial', 'lineage'] as const;

const malformed = (cause?: unknown): KeelsonError =>
  new KeelsonError('workspace.state_malformed', {}, { cause });

const OPENING_BRACE = 0x7b;
const isSpace = (byte: number): boolean => byte <= 0x20;

export const createStateSummaryReader = (): StateSummaryReader => {
  const scalars = new Map<unknown, unknown>();
  const outputs: StateOutput[] = [];
  const resources: StateResource[] = [];
  const instances: InstanceDigest[] = [];
  let managedCount = 0;
  let isOpened = false;
  let keyCount = 0;
  const withinBounds = ({ instanceKeys = [], ...resource }: StateResource): StateResource => {
    if (instanceKeys.length === 0 || keyCount + instanceKeys.length > MAX_INSTANCE_KEYS) {
      return resource;
    }
    keyCount += instanceKeys.length;
    return { ...resource, instanceKeys };
  };
  const parser = new JSONParser({
    paths: [...SCALARS.map((name) => `$.${name}`), '$.outputs.*', '$.resources.*'],
    keepStack: false,
    // With a buffer, long strings are decoded in pieces rather than character by character.
    stringBufferSize: 65_536,
  });
  parser.onValue = ({ value, key, stack }) => {
    const parent = stack.at(-1)?.key;
    if (stack.length === 1) scalars.set(key, value);
    else if (parent === 'outputs' && outputs.length < MAX_OUTPUTS) {
      outputs.push(toStateOutput(String(key), value));
    } else if (parent === 'resources') {
      const resource = toStateResource(value);
      managedCount += countManaged([resource]);
      if (resources.length < MAX_RESOURCES) resources.push(withinBounds(resource));
      if (instances.length < MAX_INSTANCE_KEYS)
        for (const digest of toInstanceDigests(resource, value)) instances.push(digest);
    }
  };
  let depth = 0;
  parser.onToken = ({ token }) => {
    if (token === TokenType.LEFT_BRACE || token === TokenType.LEFT_BRACKET) depth += 1;
    if (token === TokenType.RIGHT_BRACE || token === TokenType.RIGHT_BRACKET) depth -= 1;
    if (depth > MAX_DEPTH) throw new Error(`nested more than ${MAX_DEPTH} times`);
  };
  let failure: unknown;
  parser.onError = (error) => {
    failure = error;
  };
  return {
    write: (chunk) => {
      const first = isOpened ? undefined : chunk.find((byte) => !isSpace(byte));
      if (first !== undefined) {
        isOpened = true;
        if (first !== OPENING_BRACE) throw malformed();
      }
      if (parser.isEnded) {
        if (!chunk.every(isSpace)) throw malformed();
        return;
      }
      parser.write(chunk);
      if (failure !== undefined) throw malformed(failure);
    },
    end: () => {
      if (!parser.isEnded) throw malformed();
      const number = (name: string) => {
        const value = scalars.get(name);
        return typeof value === 'number' ? value : null;
      };
      const text = (name: string) => {
        const value = scalars.get(name);
        return typeof value === 'string' ? value : null;
      };
      return {
        formatVersion: number('version'),
        runtimeVersion: text('terraform_version'),
        serial: number('serial'),
        lineage: text('lineage'),
        outputs,
        resources,
        instances: instances.slice(0, MAX_INSTANCE_KEYS),
        managedCount,
      };
    },
  };
};
