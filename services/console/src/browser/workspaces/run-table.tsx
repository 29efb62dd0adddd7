/** The runs of a workspace: what each will do or did, who started it, from which commit. */
import { includedOne, type ListDocument, type Resource } from '../api/workspaces-api.ts';
import { classes } from '../components/classes.ts';
import { DataTable } from '../components/data-table.tsx';
import { formatDistance, formatExactTime, inWords } from '../components/format.ts';
import { PageLink } from '../components/page-link.tsx';
import { Pill } from '../components/pill.tsx';
import { Code } from '../components/text.tsx';
import { type PhaseAttributes, type RunAttributes, runTone } from '../runs/run.ts';
import { formatDuration, stagesOf } from '../runs/run-stages.ts';
import styles from './run-table.module.css';

const SHORT_SHA = 8;

/** "+2 ~0 −1"; empty until the plan has counted. */
const Counts = ({ plan }: { plan: PhaseAttributes | undefined }) => {
  const added = plan?.['resource-additions'];
  if (plan === undefined || added === null || added === undefined) return null;
  const destroyed = plan['resource-destructions'] ?? 0;
  return (
    <span>
      <ins className={styles['added']}>+{added}</ins> <span>~{plan['resource-changes'] ?? 0}</span>{' '}
      <del className={classes(styles['destroyed'], destroyed > 0 && styles['some'])}>
        −{destroyed}
      </del>
    </span>
  );
};

/** Time from its start to its end; empty while it goes on. */
const tookOf = (run: RunAttributes): string | undefined => {
  const end = stagesOf(run).findLast(({ state, title }) => state === 'ended' || title === 'Done');
  return end?.beganAt === undefined
    ? undefined
    : formatDuration(Date.parse(run['created-at']), Date.parse(end.beganAt));
};

export const RunTable = (props: {
  organization: string;
  workspace: string;
  document: ListDocument<RunAttributes>;
}) => {
  const { organization, workspace, document } = props;
  const related = <Attributes,>(run: Resource<RunAttributes>, name: string) =>
    includedOne<Attributes>(document, run, name);
  const commitOf = (run: Resource<RunAttributes>): string | undefined => {
    const version = related(run, 'configuration-version');
    const ingress =
      version && includedOne<{ 'commit-sha': string }>(document, version, 'ingress-attributes');
    return ingress?.attributes['commit-sha'].slice(0, SHORT_SHA);
  };
  return (
    <DataTable
      label="Runs"
      rows={document.data}
      keyOf={({ id }) => id}
      columns={[
        {
          title: 'Run',
          isName: true,
          cell: ({ id, attributes }) => (
            <PageLink
              to="/app/$organization/$workspace/runs/$run"
              params={{ organization, workspace, run: id }}
            >
              {attributes.message || id}
            </PageLink>
          ),
        },
        {
          title: 'State',
          isUnbroken: true,
          cell: ({ attributes: { status } }) => (
            <Pill tone={runTone(status)}>{inWords(status)}</Pill>
          ),
        },
        {
          title: 'Changes',
          isUnbroken: true,
          cell: (run) => <Counts plan={related<PhaseAttributes>(run, 'plan')?.attributes} />,
        },
        {
          title: 'By',
          cell: (run) =>
            related<{ username: string }>(run, 'created-by')?.attributes.username ??
            run.attributes.source,
        },
        { title: 'Commit', cell: (run) => <Code>{commitOf(run)}</Code> },
        {
          title: 'Started',
          isUnbroken: true,
          cell: ({ attributes }) => (
            <time
              dateTime={attributes['created-at']}
              title={formatExactTime(attributes['created-at'])}
            >
              {formatDistance(attributes['created-at'], Date.now())}
            </time>
          ),
        },
        { title: 'Took', isUnbroken: true, cell: ({ attributes }) => tookOf(attributes) },
      ]}
    />
  );
};
