/** `doctor --upgrade`: ends an upgrade. What was done before an interruption is not done again. */
import type { Cli } from './cli.ts';

interface Totals {
  readonly service: string;
  readonly examined: number;
  readonly rewritten: number;
}

interface Answer extends Totals {
  readonly after: string;
}

export const upgradeRecords = async (cli: Cli): Promise<void> => {
  const totals = new Map<string, Totals>();
  let after = '';
  do {
    const answer = await cli.client.v1('sys/upgrade', { method: 'POST', body: { after } });
    const { service, examined, rewritten, ...position } = answer.data as Answer;
    const before = totals.get(service);
    const total = {
      service,
      examined: examined + (before?.examined ?? 0),
      rewritten: rewritten + (before?.rewritten ?? 0),
    };
    totals.set(service, total);
    process.stderr.write(
      `${service}: ${total.examined} records examined, ${total.rewritten} rewritten\n`,
    );
    after = position.after;
  } while (after !== '');
  cli.printTable(
    [...totals.values()],
    [...totals.values()].map(({ service, examined, rewritten }) => [
      service,
      `${examined} records`,
      `${rewritten} rewritten`,
    ]),
  );
};
