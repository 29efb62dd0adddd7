import { useQuery } from '@tanstack/react-query';
import { ApiProblem } from '../api/api-problem.ts';
import { useSession } from '../api/session.ts';
import { callWorkspaces } from '../api/workspaces-api.ts';
import { counted } from '../components/format.ts';
import {
  type AttributeChange,
  type ChangeKind,
  outputChanges,
  type PlanJson,
  type ResourceChange,
  resourceChanges,
} from './plan-changes.ts';

const SIGNS: Readonly<Record<ChangeKind, readonly [sign: string, word: string]>> = {
  create: ['+', 'will be created'],
  update: ['~', 'will be changed'],
  delete: ['−', 'will be destroyed'],
  replace: ['±', 'will be replaced'],
  read: ['≤', 'will be read'],
};
const MOST = 500;

const Attributes = ({ changes }: { changes: readonly AttributeChange[] }) => (
  <ul className="attribute-changes">
    {changes.map(({ name, before, after }) => (
      <li key={name}>
        <code>{name}</code>
        {before !== undefined && <del>{before}</del>}
        {before !== undefined && after !== undefined && <span aria-hidden="true"> → </span>}
        {after !== undefined && <ins>{after}</ins>}
      </li>
    ))}
  </ul>
);

const ChangedResource = ({ change }: { change: ResourceChange }) => {
  const [sign, word] = SIGNS[change.kind];
  return (
    <details className={`change ${change.kind}`}>
      <summary>
        <span className="sign" aria-hidden="true">
          {sign}
        </span>
        <code>{change.address}</code> <small>{word}</small>
      </summary>
      <Attributes changes={change.attributes} />
    </details>
  );
};

/** A bar with the share of each kind of change. */
const ChangeBar = ({ changes }: { changes: readonly ResourceChange[] }) => {
  const kinds = (Object.keys(SIGNS) as ChangeKind[]).map(
    (kind) => [kind, changes.filter((one) => one.kind === kind).length] as const,
  );
  return (
    <svg
      className="change-bar"
      viewBox={`0 0 ${changes.length} 1`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {kinds.map(([kind, count], at) => (
        <rect
          key={kind}
          className={kind}
          x={kinds.slice(0, at).reduce((sum, [, before]) => sum + before, 0)}
          width={count}
          height={1}
        />
      ))}
    </svg>
  );
};

/**
 * Changes of a finished plan; renders nothing if the plan's JSON is gone or the user may not read
 * it.
 */
export const PlanChangesView = ({ planId }: { planId: string }) => {
  const { workspaces } = useSession();
  const { data: plan, error } = useQuery({
    queryKey: ['plan-json', workspaces, planId],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) =>
      (await callWorkspaces<PlanJson | undefined>('GET', `plans/${planId}/json-output-redacted`, {
        signal,
      })) ?? null,
  });
  if (error instanceof ApiProblem && error.status === 404) return null;
  if (plan === undefined || plan === null) return null;
  const changes = resourceChanges(plan);
  const outputs = outputChanges(plan);
  return (
    <div className="changes">
      {changes.length > 0 && <ChangeBar changes={changes} />}
      {changes.slice(0, MOST).map((change) => (
        <ChangedResource key={change.address} change={change} />
      ))}
      {changes.length > MOST && (
        <p className="empty">{counted(changes.length - MOST, 'more change')} in the log.</p>
      )}
      {outputs.length > 0 && (
        <details className="change update">
          <summary>
            <span className="sign" aria-hidden="true">
              ~
            </span>
            {counted(outputs.length, 'output')} <small>will be set</small>
          </summary>
          <Attributes changes={outputs} />
        </details>
      )}
    </div>
  );
};
