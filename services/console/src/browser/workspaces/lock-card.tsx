/** Lock status of a workspace: holder, reason and available actions. */
import { callWorkspaces, includedOne, type OneDocument } from '../api/workspaces-api.ts';
import { ActionButton, type Fields } from '../components/action-button.tsx';
import { workspacesCurl } from '../components/commands.tsx';
import { FormActions, Input, Label } from '../components/fields.tsx';
import { Card } from '../components/page.tsx';
import { Pill } from '../components/pill.tsx';
import type { WorkspaceAttributes } from './workspace.ts';

/** The name of who holds the lock, or the id where the person may not see the name. */
export const holderOf = (document: OneDocument<WorkspaceAttributes>): string => {
  const named = document.data.relationships?.['locked-by']?.data;
  if (named === undefined || named === null || Array.isArray(named)) return 'somebody';
  const holder = includedOne<{ username?: string; name?: string }>(
    document,
    document.data,
    'locked-by',
  );
  const { id } = named as { id: string };
  return holder?.attributes.username ?? holder?.attributes.name ?? id;
};

export const LockCard = (props: {
  organization: string;
  document: OneDocument<WorkspaceAttributes>;
}) => {
  const { id, attributes: workspace } = props.document.data;
  const { permissions, locked, 'locked-reason': reason } = workspace;
  const act = (action: string) => (fields: Fields) =>
    callWorkspaces('POST', `workspaces/${id}/actions/${action}`, {
      ...(action === 'lock' && { body: { reason: fields.text('reason') } }),
    });
  const curl = (action: string) => workspacesCurl('POST', `workspaces/${id}/actions/${action}`);
  return (
    <Card
      title="Lock"
      actions={<Pill tone={locked ? 'busy' : 'good'}>{locked ? 'locked' : 'unlocked'}</Pill>}
    >
      {locked ? (
        <p>
          Locked by <strong>{holderOf(props.document)}</strong>
          {reason !== null && reason !== '' && (
            <>
              : <bdi>{reason}</bdi>
            </>
          )}
          . Nobody else plans, applies or stores state until it is unlocked.
        </p>
      ) : (
        <p>Runs may begin, and state may be stored by whoever takes the lock.</p>
      )}
      <FormActions>
        {!locked && permissions['can-lock'] && (
          <ActionButton
            label="Lock"
            opensAt={`lock-${id}`}
            title={`Lock ${workspace.name}?`}
            confirm="Lock"
            act={act('lock')}
            commands={[
              workspacesCurl('POST', `workspaces/${id}/actions/lock`, { reason: 'maintenance' }),
              {
                tool: 'keelson',
                text: `keelson workspace lock ${props.organization}/${workspace.name} --reason maintenance`,
              },
            ]}
          >
            <p>New runs wait until you unlock it, or somebody with the right forces it.</p>
            <Label>
              Reason (optional)
              <Input name="reason" autoComplete="off" maxLength={500} />
            </Label>
          </ActionButton>
        )}
        {locked && permissions['can-unlock'] && (
          <ActionButton
            label="Unlock"
            opensAt={`unlock-${id}`}
            title={`Unlock ${workspace.name}?`}
            confirm="Unlock"
            act={act('unlock')}
            commands={[
              curl('unlock'),
              {
                tool: 'keelson',
                text: `keelson workspace unlock ${props.organization}/${workspace.name}`,
              },
            ]}
          >
            <p>Only who holds the lock can give it back. Waiting runs begin.</p>
          </ActionButton>
        )}
        {locked && permissions['can-force-unlock'] && (
          <ActionButton
            label="Force unlock"
            title={`Take the lock of ${workspace.name} away?`}
            confirm="Force unlock"
            tone="danger"
            typed={workspace.name}
            act={act('force-unlock')}
            commands={[
              curl('force-unlock'),
              {
                tool: 'terraform',
                text: `terraform force-unlock -force ${props.organization}/${workspace.name}`,
              },
            ]}
          >
            <p>
              Whoever holds the lock may still be changing infrastructure. Two that work at once can
              each lose what the other has written to the state: ask{' '}
              <strong>{holderOf(props.document)}</strong> before.
            </p>
          </ActionButton>
        )}
      </FormActions>
    </Card>
  );
};
