import { expect, test } from 'vitest';
import { withoutAgentSettings } from './terraform.ts';

test('the settings of the agent, its token among them, are hidden from the tool', () =>
  expect(withoutAgentSettings({ KEELSON_AGENT_TOKEN: 'of the pool', PATH: '/bin' })).toEqual({
    PATH: '/bin',
  }));
