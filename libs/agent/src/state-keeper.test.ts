import { expect, test } from 'vitest';
import { parseStateText, withSerial } from './state-keeper.ts';

const STATE = `{
  "version": 4,
  "terraform_version": "1.11.4",
  "serial": 7,
  "lineage": "0f2a",
  "outputs": {"big": {"value": 12345678901234567890123, "serial": 1}}
}
`;

test('reads serial and lineage', () => {
  expect(parseStateText(STATE)).toMatchObject({ serial: 7, lineage: '0f2a' });
  const minified = '{"version":4,"serial":0,"lineage":"x"}';
  expect(parseStateText(minified)).toMatchObject({ serial: 0, lineage: 'x' });
});

test.for(['', '{', STATE.slice(0, -20), '{"lineage":"x"}'])(
  'does not accept %j as a state',
  (text) => {
    expect(parseStateText(text)).toBeUndefined();
  },
);

test('changes only the serial: no number is rounded', () => {
  const state = parseStateText(STATE);
  expect(state && withSerial(state, 12)).toBe(STATE.replace('"serial": 7', '"serial": 12'));
});
