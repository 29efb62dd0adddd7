import { describe, expect, test } from 'vitest';
import { ERROR_CODES, type ErrorCode, hasCode, KeelsonError } from './errors.ts';

const page = (): string => {
  const rows = Object.entries(ERROR_CODES)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([code, { http, grpc, retry, message }]) => {
      const text = message.replaceAll('|', '\\|').replaceAll('<', '\\<');
      return `| \`${code}\` | ${http} | ${grpc} | ${retry ? 'yes' : 'no'} | ${text} |`;
    });
  return [
    '# Errors',
    '',
    'Every code, its HTTP and gRPC status, whether the same request may succeed later without change, and the text a client gets. Written from `libs/errors`; a test fails when they differ.',
    '',
    '| code | HTTP | gRPC | retry | text |',
    '|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
};

describe('error codes', () => {
  test('are all on the reference page', async () => {
    await expect(page()).toMatchFileSnapshot('../../../docs/errors.md');
  });

  test.for(Object.keys(ERROR_CODES))(
    '%s is lower snake words, with an area before a dot',
    (code) => {
      expect(code).toMatch(/^(internal|[a-z]+(\.[a-z0-9]+(_[a-z0-9]+)*)+)$/);
    },
  );
});

describe('KeelsonError', () => {
  test('fills its text from the parameters', () => {
    const error = new KeelsonError('request.too_large', { limitBytes: 10 });
    expect(error.message).toBe('the request body is larger than 10 bytes');
    expect(error.httpStatus).toBe(413);
  });

  test('leaves a placeholder without parameter visible', () => {
    expect(new KeelsonError('request.invalid').message).toBe('{text}');
  });

  test('does not expand placeholders inside a parameter', () => {
    const error = new KeelsonError('request.invalid', { text: '{text} {code}' });
    expect(error.message).toBe('{text} {code}');
  });

  test('keeps an unknown error as the cause of `internal`', () => {
    const thrown = new TypeError('secret detail');
    const error = KeelsonError.from(thrown);
    expect(error.code).toBe('internal');
    expect(error.message).not.toContain('secret');
    expect(error.cause).toBe(thrown);
  });

  test('is recognised by code, never by text', () => {
    const error: unknown = new KeelsonError('sys.sealed');
    expect(hasCode(error, 'sys.sealed')).toBe(true);
    expect(hasCode(error, 'internal' satisfies ErrorCode)).toBe(false);
    expect(hasCode(new Error('Keelson is sealed'), 'sys.sealed')).toBe(false);
  });
});
