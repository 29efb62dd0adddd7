import { hasCode, KeelsonError } from '@keelson/errors';
import { propertySettings } from '@keelson/testkit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parsePolicyAnswer } from './domain/policy-answer.ts';
import { formatDuration } from './domain/policy-request.ts';

const outcomeOf = (bytes: Uint8Array): string => {
  try {
    parsePolicyAnswer(bytes, 'id');
    return 'understood';
  } catch (error) {
    if (error instanceof KeelsonError) return error.code;
    throw error;
  }
};

const member = fc.oneof(
  fc.string(),
  fc.boolean(),
  fc.integer(),
  fc.constant(null),
  fc.array(fc.string()),
  fc.constant('-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----'),
);

describe('the answer of a policy service', () => {
  test('of arbitrary bytes is refused as an error of the service', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 512 }), (bytes) => {
        expect(outcomeOf(bytes)).toBe('pki.policy_unusable');
      }),
      propertySettings(),
    );
  });

  test('with arbitrary members is an error or a decision', () => {
    const answers = fc.record(
      {
        request_uuid: fc.oneof(fc.constant('id'), member),
        error: member,
        certificate: member,
        warnings: member,
        issuer_ref: member,
        store_certificate: member,
        generate_lease: member,
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(answers, (answer) => {
        expect(['pki.policy_unusable', 'pki.policy_refused']).toContain(
          outcomeOf(Buffer.from(JSON.stringify(answer))),
        );
      }),
      propertySettings(),
    );
  });

  test('for another request has no effect, not even as a refusal', () => {
    const foreign = Buffer.from(JSON.stringify({ request_uuid: 'other', error: 'no' }));
    expect(() => parsePolicyAnswer(foreign, 'id')).toThrow(
      expect.toSatisfy((error) => hasCode(error, 'pki.policy_unusable')),
    );
  });
});

test('durations are written as hours, minutes and seconds', () => {
  fc.assert(
    fc.property(fc.nat(2_147_483_647), (seconds) => {
      const [, hours, minutes, rest] = /^(\d+)h(\d+)m(\d+)s$/.exec(formatDuration(seconds)) ?? [];
      expect(Number(hours) * 3600 + Number(minutes) * 60 + Number(rest)).toBe(seconds);
      expect([Number(minutes) < 60, Number(rest) < 60]).toEqual([true, true]);
    }),
    propertySettings(),
  );
});
