import { KeelsonError } from '@keelson/errors';

const TOKENS = /^[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*$/;

/** @throws KeelsonError `request.invalid` for an invalid stream name */
export const requireStreamName = (stream: string): void => {
  if (stream.length > 200 || !TOKENS.test(stream))
    throw new KeelsonError('request.invalid', { text: `not a stream name: ${stream}` });
};

/**
 * JetStream names may not contain dots. Keelson's names contain no underscores, so that the mapping is
 * unambiguous.
 */
export const toJetStreamName = (stream: string): string => stream.replaceAll('.', '_');
