import { callWorkspaces } from '../api/workspaces-api.ts';
import { ActionButton } from '../components/action-button.tsx';
import { workspacesCurl } from '../components/commands.tsx';
import { Input, Label } from '../components/fields.tsx';
import { formatCounts, type PhaseAttributes, type RunAttributes } from './run.ts';

/** A plan that destroys more is confirmed by the name of the workspace. */
const MANY_DESTRUCTIONS = 10;

interface RunAction {
  readonly action: 'apply' | 'discard' | 'cancel' | 'force-cancel';
  readonly isOffered: boolean;
  readonly label: string;
  readonly title: string;
  readonly text: string;
  readonly tone: 'primary' | 'danger';
  /** Text to be typed. */
  readonly typed?: string;
}

interface ActedRun {
  readonly run: RunAttributes;
  /** Name. */
  readonly workspace: string;
  readonly plan: PhaseAttributes | undefined;
}

const applicationText = ({ run, plan }: ActedRun): string => {
  if (run['is-destroy']) return 'Everything that the workspace manages is destroyed.';
  const counts = plan && formatCounts(plan, false);
  return counts === undefined
    ? 'What the plan shows is done to the infrastructure.'
    : `What the plan shows is done to the infrastructure: ${counts}.`;
};

const actionsOf = (acted: ActedRun): readonly RunAction[] => {
  const { actions, permissions, ...run } = acted.run;
  const destroyed = acted.plan?.['resource-destructions'] ?? 0;
  return [
    {
      action: 'apply',
      isOffered: actions['is-confirmable'] && permissions['can-apply'],
      label: 'Confirm and apply',
      title: 'Apply this plan?',
      text: applicationText(acted),
      tone: run['is-destroy'] || destroyed > 0 ? 'danger' : 'primary',
      ...(destroyed > MANY_DESTRUCTIONS && { typed: acted.workspace }),
    },
    {
      action: 'discard',
      isOffered: actions['is-discardable'] && permissions['can-discard'],
      label: 'Discard',
      title: 'Discard this run?',
      text: 'Nothing is changed, the plan cannot be applied any more, and the next run may begin.',
      tone: 'danger',
    },
    {
      action: 'cancel',
      isOffered: actions['is-cancelable'] && permissions['can-cancel'],
      label: 'Cancel',
      title: 'Cancel this run?',
      text: 'The tool is asked to stop. What an apply has changed so far stays changed, and its state is stored.',
      tone: 'danger',
    },
    {
      action: 'force-cancel',
      isOffered: actions['is-force-cancelable'] && permissions['can-force-cancel'],
      label: 'Force cancel',
      title: 'End this run at once?',
      text: 'The run ends without waiting for the tool. What an apply has changed may be missing in the state.',
      tone: 'danger',
    },
  ];
};

/** Buttons for the actions that the run's status and the caller's permissions allow. */
export const RunActions = ({ runId, ...acted }: ActedRun & { runId: string }) => (
  <>
    {actionsOf(acted)
      .filter(({ isOffered }) => isOffered)
      .map(({ action, label, title, text, tone, typed }) => (
        <ActionButton
          key={action}
          label={label}
          title={title}
          confirm={label}
          tone={tone}
          {...(typed !== undefined && { typed })}
          act={(fields) =>
            callWorkspaces('POST', `runs/${runId}/actions/${action}`, {
              body: { comment: fields.text('comment') },
            })
          }
          commands={[workspacesCurl('POST', `runs/${runId}/actions/${action}`, { comment: '' })]}
        >
          <p>{text}</p>
          <Label>
            Comment (optional)
            <Input name="comment" autoComplete="off" maxLength={1000} />
          </Label>
        </ActionButton>
      ))}
  </>
);
