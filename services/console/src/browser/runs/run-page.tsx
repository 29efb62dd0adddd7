/**
 * The page of one run, to which provisioning clients link: plan and apply live, actions and
 * history.
 */
import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useDocument } from '../api/queries.ts';
import { includedOne, type OneDocument, type Resource } from '../api/workspaces-api.ts';
import cardStyles from '../components/card.module.css';
import { Commands, workspacesCurl } from '../components/commands.tsx';
import { Details, Summary } from '../components/details.tsx';
import { FactList } from '../components/fact-list.tsx';
import { formatDistance, formatExactTime, inWords } from '../components/format.ts';
import { Loaded } from '../components/loaded.tsx';
import { Card, Empty, Page } from '../components/page.tsx';
import { PageLink } from '../components/page-link.tsx';
import { Pill } from '../components/pill.tsx';
import { Code } from '../components/text.tsx';
import { LogView } from './log-view.tsx';
import { PlannedChangesView } from './plan/planned-changes-view.tsx';
import {
  formatCounts,
  hasEnded,
  type PhaseAttributes,
  type RunAttributes,
  runTone,
} from './run.ts';
import { RunActions } from './run-actions.tsx';
import { RunCommit } from './run-commit.tsx';
import { RunErrors } from './run-errors.tsx';
import { RunComments, RunEvents } from './run-history.tsx';
import styles from './run-page.module.css';
import { RunTimeline } from './run-timeline.tsx';

const route = getRouteApi('/app/$organization/$workspace/runs/$run');
const REFRESH_MS = 2_000;
const NOT_BEGUN = ['pending', 'managed_queued', 'queued', 'unreachable'];

const Phase = (props: {
  title: 'Plan' | 'Apply';
  phase: Resource<PhaseAttributes>;
  children?: ReactNode;
}) => {
  const { title, phase } = props;
  const { status } = phase.attributes;
  const hasBegun = !NOT_BEGUN.includes(status);
  const counts = formatCounts(phase.attributes, title === 'Apply');
  return (
    <Card
      title={title}
      actions={
        <Pill tone={runTone(status === 'finished' ? 'applied' : status)}>{inWords(status)}</Pill>
      }
    >
      {counts !== undefined && <p className={styles['counts']}>{counts}</p>}
      {props.children}
      {hasBegun ? (
        <Details open={title === 'Apply' || status !== 'finished'}>
          <Summary>Log</Summary>
          <LogView
            label={`Log of the ${title.toLowerCase()}`}
            phaseId={phase.id}
            url={phase.attributes['log-read-url']}
          />
        </Details>
      ) : (
        <Empty>
          {status === 'unreachable'
            ? `The run ended before its ${title.toLowerCase()}.`
            : `The ${title.toLowerCase()} has not begun.`}
        </Empty>
      )}
    </Card>
  );
};

const flagsOf = (run: RunAttributes): readonly string[] => [
  ...(run['is-destroy'] ? ['destroys everything'] : []),
  ...(run['plan-only'] ? ['plan only'] : []),
  ...(run['refresh-only'] ? ['refresh only'] : []),
  ...(run['auto-apply'] ? ['auto-apply'] : []),
];

/** Facts by which nobody decides. */
const RunDetails = ({ id, run }: { id: string; run: RunAttributes }) => {
  const flags = flagsOf(run);
  const targets = run['target-addrs'] ?? [];
  return (
    <Details className={cardStyles['card']}>
      <Summary>Details</Summary>
      <FactList
        facts={[
          ['Run', <Code key="id">{id}</Code>],
          ['Started', formatExactTime(run['created-at'])],
          ['Source', run.source],
          ['Version', run['terraform-version'] ?? '–'],
          ...(flags.length > 0 ? [['Options', flags.join(', ')] as const] : []),
          ...(targets.length > 0 ? [['Targets', targets.join(', ')] as const] : []),
        ]}
      />
      <Commands commands={[workspacesCurl('GET', `runs/${id}?include=plan,apply`)]} />
    </Details>
  );
};

const Run = ({ document }: { document: OneDocument<RunAttributes> }) => {
  const { organization, workspace: named } = route.useParams();
  const { id, attributes: run } = document.data;
  const plan = includedOne<PhaseAttributes>(document, document.data, 'plan');
  const apply = includedOne<PhaseAttributes>(document, document.data, 'apply');
  const author = includedOne<{ username: string }>(document, document.data, 'created-by');
  const workspace =
    includedOne<{ name: string }>(document, document.data, 'workspace')?.attributes.name ?? named;
  const everyMs = hasEnded(run.status) ? undefined : REFRESH_MS;
  const failed = [plan, apply].find((phase) => phase?.attributes.status === 'errored');
  return (
    <Page
      title={run.message === '' ? id : run.message}
      windowTitle={`Run in ${workspace}`}
      isSticky
      lead={
        <>
          <Pill tone={runTone(run.status)}>{inWords(run.status)}</Pill> ·{' '}
          <PageLink
            to="/app/$organization/workspaces/$workspace"
            params={{ organization, workspace }}
            search={{ tab: 'runs' }}
          >
            {workspace}
          </PageLink>{' '}
          · {author?.attributes.username ?? run.source} ·{' '}
          <time dateTime={run['created-at']} title={formatExactTime(run['created-at'])}>
            {formatDistance(run['created-at'], Date.now())}
          </time>
        </>
      }
      actions={<RunActions runId={id} run={run} workspace={workspace} plan={plan?.attributes} />}
    >
      <RunTimeline run={run} />
      {failed && (
        <RunErrors key={failed.id} phaseId={failed.id} url={failed.attributes['log-read-url']} />
      )}
      {plan && (
        <Phase title="Plan" phase={plan}>
          {plan.attributes.status === 'finished' && <PlannedChangesView planId={plan.id} />}
        </Phase>
      )}
      {apply && !run['plan-only'] && <Phase title="Apply" phase={apply} />}
      <RunCommit document={document} />
      <RunDetails id={id} run={run} />
      <RunComments runId={id} mayComment={run.permissions['can-comment']} />
      <RunEvents runId={id} everyMs={everyMs} />
    </Page>
  );
};

export const RunPage = () => {
  const { run: runId } = route.useParams();
  const path = `runs/${encodeURIComponent(runId)}?include=plan,apply,workspace,created_by,configuration_version,configuration_version.ingress_attributes`;
  const query = useDocument<OneDocument<RunAttributes>>(path, {
    isLive: true,
    everyMs: (document) =>
      document !== undefined && hasEnded(document.data.attributes.status) ? undefined : REFRESH_MS,
  });
  return <Loaded query={query}>{(document) => <Run document={document} />}</Loaded>;
};
