import { expect, test } from 'vitest';
import { decideHealthCode, type HealthOverrides, type HealthState } from './health.ts';

const ACTIVE: HealthState = {
  initialized: true,
  sealed: false,
  isIncomplete: false,
  isDrSecondary: false,
  isSuperseded: false,
  isPerformanceStandby: false,
  isStandby: false,
};

test.for<readonly [string, Partial<HealthState>, HealthOverrides, number]>([
  ['active', {}, {}, 200],
  ['active, another code', {}, { activecode: 204 }, 204],
  ['not initialized, before all else', { initialized: false, sealed: true }, {}, 501],
  ['not initialized, another code', { initialized: false }, { uninitcode: 200 }, 200],
  ['sealed, before the role', { sealed: true, isDrSecondary: true }, {}, 503],
  ['sealed, another code', { sealed: true }, { sealedcode: 299 }, 299],
  ['sealed, before a service that is missing', { sealed: true, isIncomplete: true }, {}, 503],
  ['a service is missing, before the role', { isIncomplete: true, isDrSecondary: true }, {}, 503],
  ['a service is missing, another code', { isIncomplete: true }, { incompletecode: 298 }, 298],
  ['a service is missing, not active', { isIncomplete: true }, { activecode: 204 }, 503],
  ['DR secondary, also its standby', { isDrSecondary: true, isStandby: true }, {}, 472],
  ['DR secondary, another code', { isDrSecondary: true }, { drsecondarycode: 200 }, 200],
  ['DR secondary, not a standby that is fine', { isDrSecondary: true }, { standbyok: true }, 472],
  ['superseded primary, like a DR secondary', { isSuperseded: true }, {}, 472],
  ['superseded primary, another code', { isSuperseded: true }, { drsecondarycode: 210 }, 210],
  ['performance standby', { isPerformanceStandby: true, isStandby: true }, {}, 473],
  [
    'performance standby, another code',
    { isPerformanceStandby: true },
    { performancestandbycode: 210 },
    210,
  ],
  [
    'performance standby that is fine',
    { isPerformanceStandby: true },
    { perfstandbyok: true, activecode: 201 },
    201,
  ],
  ['standby', { isStandby: true }, {}, 429],
  ['standby, another code', { isStandby: true }, { standbycode: 211 }, 211],
  ['standby that is fine', { isStandby: true }, { standbyok: true }, 200],
])('%s', ([, state, overrides, code]) => {
  expect(decideHealthCode({ ...ACTIVE, ...state }, overrides)).toBe(code);
});
