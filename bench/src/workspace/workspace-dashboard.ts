import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bench, Figure } from '../bench.ts';
import { measureLatency } from '../load.ts';
import { setScene } from './workspace.ts';
import { seededRandom } from './workspace-names.ts';
import { seedRuns } from './workspace-seed.ts';

const COLLECTION = '/organizations/bench/workspaces';
const PAGE = 100;
const TARGET_MS = 60;
const PER_SECOND = 10;

/** Every third workspace has a run; those are the first in this order. */
const BY_RUN = `sort=-current-run.created-at&include=current_run&page[size]=${PAGE}`;

const QUERIES: Readonly<Record<string, string>> = {
  'with current runs': BY_RUN,
  'with current runs, few fields': `${BY_RUN}&fields[workspaces]=name,current-run&fields[runs]=status`,
};

export const workspaceDashboard: Bench = {
  name: 'workspace-dashboard',
  claim: 'a page of 100 workspaces with their current runs under 60 ms at 10,000 workspaces',
  method:
    'The service on SQLite in one process, called as the gateway calls it; answers are not parsed. ' +
    `10,000 workspaces, a third of them with a run; any page of those, ${PER_SECOND} a second.`,
  run: async ({ quick, say }) => {
    const count = quick ? 600 : 10_000;
    const folder = mkdtempSync(join(tmpdir(), 'keelson-bench-'));
    say(`making ${count} workspaces`);
    const scene = await setScene(folder, count);
    try {
      await seedRuns(scene.workspaces.store, scene.ids);
      const random = seededRandom(count);
      const pages = Math.floor(count / 3 / PAGE);
      const figures: Figure[] = [];
      for (const [name, query] of Object.entries(QUERIES)) {
        say(name);
        const list = () => {
          const page = 1 + Math.floor(random() * pages);
          return scene.workspaces.ask('GET', `${COLLECTION}?${query}&page[number]=${page}`);
        };
        const turns = quick ? 2 : 100;
        const before = process.cpuUsage();
        for (let turn = 0; turn < turns; turn += 1) await list();
        const { user, system } = process.cpuUsage(before);
        const latency = await measureLatency(list, PER_SECOND, quick ? 0.3 : 20);
        figures.push({
          name: `page of ${PAGE}, ${name}: p99`,
          value: latency.p99,
          unit: 'ms',
          limit: { name: 'target', value: TARGET_MS },
          cpuMicrosecondsPerOperation: (user + system) / turns,
          latencyMilliseconds: latency,
        });
      }
      return figures;
    } finally {
      await scene.workspaces.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
