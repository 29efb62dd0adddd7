import { expect, test } from 'vitest';
import { capabilityOf } from './capability.ts';
import { HandlerFault } from './guarded.ts';

const at = (...places: readonly string[]): Error =>
  Object.assign(new Error('odd'), {
    stack: ['Error: odd', ...places.map((place) => `    at f (${place}:1:2)`)].join('\n'),
  });

test.for([
  [
    at(
      'node:_http_server:1',
      'file:///k/services/pki/src/acme/x/y.ts',
      'file:///k/libs/edge/src/a.ts',
    ),
    'pki/acme',
  ],
  [at('file:///k/libs/repositories/src/egress-proxy.ts'), 'repositories'],
  [at('/k/libs/errors/src/errors.ts', '/k/services/gateway/src/server/a.ts'), 'gateway/server'],
  [at('node:net'), 'unknown'],
  [Object.assign(at('node:net'), { cause: at('/k/libs/bus/src/link/a.ts') }), 'bus/link'],
  [new HandlerFault('sys/seal', at('/k/libs/bus/src/a.ts')), 'sys/seal'],
  ['no error', 'unknown'],
] as const)('%s is of %s', ([error, capability]) => {
  expect(capabilityOf(error)).toBe(capability);
});
