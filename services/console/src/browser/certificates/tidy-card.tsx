/** Tidying of expired data: the last run, manual runs, and runs at intervals. */
import { useCapabilities, useSecret } from '../api/queries.ts';
import { callSecrets } from '../api/secrets-api.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Commands, secretsCurl, vaultCommand } from '../components/commands.tsx';
import { FactList } from '../components/data-table.tsx';
import { DURATION, DURATION_WORDS } from '../components/duration.ts';
import { shownSeconds, shownTime } from '../components/format.ts';
import { Loaded } from '../components/loaded.tsx';
import { Card } from '../components/page.tsx';
import { Pill, type Tone } from '../components/pill.tsx';

interface TidyStatus {
  readonly state: string;
  readonly error: string | null;
  readonly message: string | null;
  readonly time_started: string | null;
  readonly time_finished: string | null;
  readonly cert_store_deleted_count: number | null;
  readonly revoked_cert_deleted_count: number | null;
}

interface AutoTidy {
  readonly enabled: boolean;
  readonly interval_duration: number;
}

const TONES: Readonly<Record<string, Tone>> = { Running: 'busy', Finished: 'good', Error: 'bad' };
const REFRESH_MS = 2_000;

const WORK = [
  ['tidy_cert_store', 'expired certificates'],
  ['tidy_revoked_certs', 'expired revocations with their certificates'],
  ['tidy_expired_issuers', 'expired issuers, never the default one'],
  ['tidy_acme', 'ACME orders and accounts that are no longer needed'],
] as const;

const bodyOf = (isChecked: (name: string) => boolean, buffer: string): object => ({
  ...Object.fromEntries(WORK.map(([name]) => [name, isChecked(name)])),
  safety_buffer: buffer,
});

const WorkFields = () => (
  <>
    <fieldset>
      <legend>What is deleted</legend>
      {WORK.map(([name, words], at) => (
        <label className="choice" key={name}>
          <input type="checkbox" name={name} defaultChecked={at < 2} /> {words}
        </label>
      ))}
    </fieldset>
    <label>
      So long after their expiry
      <input name="buffer" required pattern={DURATION} title={DURATION_WORDS} defaultValue="72h" />
    </label>
  </>
);

export const TidyCard = ({ mount }: { mount: string }) => {
  const start = `${mount}/tidy`;
  const config = `${mount}/config/auto-tidy`;
  const status = `${mount}/tidy-status`;
  const query = useSecret<TidyStatus>(status, {
    everyMs: (latest) => (latest?.state === 'Running' ? REFRESH_MS : undefined),
  });
  const { data: auto } = useSecret<AutoTidy>(config);
  const may = useCapabilities([start, config]);
  const startBody = bodyOf((name) => name === 'tidy_cert_store', '72h');
  return (
    <Card title="Tidy">
      <Loaded query={query}>
        {(last) =>
          last !== null && (
            <FactList
              facts={[
                [
                  'Last run',
                  <Pill key="state" tone={TONES[last.state] ?? 'plain'}>
                    {last.state}
                  </Pill>,
                ],
                ['Begun', shownTime(last.time_started)],
                ['Finished', shownTime(last.time_finished)],
                ['Certificates deleted', String(last.cert_store_deleted_count ?? '–')],
                ['Revocations deleted', String(last.revoked_cert_deleted_count ?? '–')],
                ...(last.error === null ? [] : ([['Error', last.error]] as const)),
                [
                  'At intervals',
                  auto?.enabled === true
                    ? `every ${shownSeconds(auto.interval_duration)}`
                    : 'not switched on',
                ],
              ]}
            />
          )
        }
      </Loaded>
      <div className="form-actions">
        {may(start, 'update') && (
          <ActionButton
            label="Tidy now"
            title="Delete what is no longer needed?"
            confirm="Tidy"
            act={({ text, isChecked }) =>
              callSecrets('POST', start, { body: bodyOf(isChecked, text('buffer')) })
            }
            commands={[
              secretsCurl('POST', start, startBody),
              vaultCommand(`vault write ${start} tidy_cert_store=true safety_buffer=72h`),
            ]}
          >
            <p>What is deleted can no longer be listed or searched here. Clients notice nothing.</p>
            <WorkFields />
          </ActionButton>
        )}
        {may(config, 'update') && (
          <ActionButton
            label={auto?.enabled === true ? 'Change the intervals' : 'Tidy at intervals'}
            title="Tidy at intervals"
            confirm="Save"
            act={({ text, isChecked }) =>
              callSecrets('POST', config, {
                body: {
                  enabled: isChecked('enabled'),
                  interval_duration: text('interval'),
                  ...bodyOf(isChecked, text('buffer')),
                },
              })
            }
            commands={[
              secretsCurl('POST', config, {
                enabled: true,
                interval_duration: '12h',
                ...startBody,
              }),
              vaultCommand(
                `vault write ${config} enabled=true interval_duration=12h tidy_cert_store=true`,
              ),
            ]}
          >
            <label className="choice">
              <input type="checkbox" name="enabled" defaultChecked /> Switched on
            </label>
            <label>
              Every
              <input
                name="interval"
                required
                pattern={DURATION}
                title={DURATION_WORDS}
                defaultValue="12h"
              />
            </label>
            <WorkFields />
          </ActionButton>
        )}
      </div>
      <Commands commands={[secretsCurl('GET', status), vaultCommand(`vault read ${status}`)]} />
    </Card>
  );
};
