import { KeelsonError } from '@keelson/errors';

const TOKENS = /^[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*$/;

/** @throws KeelsonError `request.invalid` for what is no stream name */
export const requireStreamName = (stream: string): void => {
  if (stream.length > 200 || !TOKENS.test(stream))
    throw new KeelsonError('request.invalid', { text: `not a stream name: ${stream}` });
};

/** JetStream names hold no dots; underscores do not occur in ours, so this loses nothing. */
export const toJetStreamName = (stream: string): string => stream.replaceAll('.', '_');
