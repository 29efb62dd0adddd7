/** Tidying of expired data: the last run, manual runs, and runs at intervals. */
import { useCapabilities, useSecret } from '../api/queries.ts';
import { callSecrets } from '../api/secrets-api.ts';
import { ActionButton, type Fields } from '../components/action-button.tsx';
import { Commands, secretsCurl, vaultCommand } from '../components/commands.tsx';
import { durationText } from '../components/duration.ts';
import { FactList } from '../components/fact-list.tsx';
import { FieldSet, FormActions } from '../components/fields.tsx';
import { formatSeconds, formatTime } from '../components/format.ts';
import { Lifetime } from '../components/lifetime.tsx';
import { Loaded } from '../components/loaded.tsx';
import { Card } from '../components/page.tsx';
import { Pill, type Tone } from '../components/pill.tsx';
import { Choice } from '../editing/choice.tsx';
import { EditButton } from '../editing/edit-button.tsx';
import { secretTarget } from '../editing/edit-target.ts';

interface TidyStatus {
  readonly state: string;
  readonly error: string | null;
  readonly message: string | null;
  readonly time_started: string | null;
  readonly time_finished: string | null;
  readonly cert_store_deleted_count: number | null;
  readonly revoked_cert_deleted_count: number | null;
}

interface AutoTidy extends Readonly<Record<Work, boolean>> {
  readonly enabled: boolean;
  readonly interval_duration: number;
  readonly safety_buffer: number;
}

const TONES: Readonly<Record<string, Tone>> = { Running: 'busy', Finished: 'good', Error: 'bad' };
const REFRESH_MS = 2_000;

const WORK = [
  ['tidy_cert_store', 'expired certificates'],
  ['tidy_revoked_certs', 'expired revocations with their certificates'],
  ['tidy_expired_issuers', 'expired issuers, never the default one'],
  ['tidy_acme', 'ACME orders and accounts that are no longer needed'],
] as const;

type Work = (typeof WORK)[number][0];

type WorkValues = Readonly<Record<Work, boolean>> & { readonly safety_buffer: string };

/** The work of a run by hand unless something else is chosen. */
const USUAL_WORK: WorkValues = {
  tidy_cert_store: true,
  tidy_revoked_certs: true,
  tidy_expired_issuers: false,
  tidy_acme: false,
  safety_buffer: '72h',
};

const workIn = ({ isChecked, text }: Fields): object => ({
  ...Object.fromEntries(WORK.map(([name]) => [name, isChecked(name)])),
  safety_buffer: text('safety_buffer'),
});

const intervalValues = (auto: AutoTidy) => ({
  enabled: auto.enabled,
  interval_duration: durationText(auto.interval_duration),
  tidy_cert_store: auto.tidy_cert_store,
  tidy_revoked_certs: auto.tidy_revoked_certs,
  tidy_expired_issuers: auto.tidy_expired_issuers,
  tidy_acme: auto.tidy_acme,
  safety_buffer: durationText(auto.safety_buffer),
});

const WorkFields = ({ values }: { values: WorkValues }) => (
  <>
    <FieldSet>
      <legend>What is deleted</legend>
      {WORK.map(([name, words]) => (
        <Choice key={name} name={name} isTicked={values[name]}>
          {words}
        </Choice>
      ))}
    </FieldSet>
    <Lifetime
      name="safety_buffer"
      required
      label="So long after their expiry"
      value={values.safety_buffer}
    />
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
                ['Begun', formatTime(last.time_started)],
                ['Finished', formatTime(last.time_finished)],
                ['Certificates deleted', String(last.cert_store_deleted_count ?? '–')],
                ['Revocations deleted', String(last.revoked_cert_deleted_count ?? '–')],
                ...(last.error === null ? [] : ([['Error', last.error]] as const)),
                [
                  'At intervals',
                  auto?.enabled === true
                    ? `every ${formatSeconds(auto.interval_duration)}`
                    : 'not switched on',
                ],
              ]}
            />
          )
        }
      </Loaded>
      <FormActions>
        {may(start, 'update') && (
          <ActionButton
            label="Tidy now"
            title="Delete what is no longer needed?"
            confirm="Tidy"
            act={(fields) => callSecrets('POST', start, { body: workIn(fields) })}
            commands={[
              secretsCurl('POST', start, USUAL_WORK),
              vaultCommand(`vault write ${start} tidy_cert_store=true safety_buffer=72h`),
            ]}
          >
            <p>What is deleted can no longer be listed or searched here. Clients notice nothing.</p>
            <WorkFields values={USUAL_WORK} />
          </ActionButton>
        )}
        {may(config, 'update') && (
          <EditButton
            edits="tidy-intervals"
            label={auto?.enabled === true ? 'Change the intervals' : 'Tidy at intervals'}
            title="Tidy at intervals"
            target={secretTarget<AutoTidy>(config)}
            valuesOf={intervalValues}
            bodyOf={(changed) => changed}
            fields={(values) => (
              <>
                <Choice name="enabled" isTicked={values.enabled}>
                  Switched on
                </Choice>
                <Lifetime
                  name="interval_duration"
                  required
                  label="Every"
                  value={values.interval_duration}
                />
                <WorkFields values={values} />
              </>
            )}
            commands={() => [
              vaultCommand(
                `vault write ${config} enabled=true interval_duration=12h tidy_cert_store=true`,
              ),
            ]}
          />
        )}
      </FormActions>
      <Commands commands={[secretsCurl('GET', status), vaultCommand(`vault read ${status}`)]} />
    </Card>
  );
};
