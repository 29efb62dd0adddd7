/** The schedule and the list of messages, with the actions that the caller may perform. */
import type { May } from '../api/queries.ts';
import { callSecrets } from '../api/secrets-api.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Button } from '../components/button.tsx';
import { secretsCurl, vaultCommand } from '../components/commands.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { formatTime } from '../components/format.ts';
import { Card } from '../components/page.tsx';
import { Pill } from '../components/pill.tsx';
import type { Message } from './message.ts';
import { stateOf } from './schedule.ts';
import { ScheduleChart } from './schedule-chart.tsx';

export const COLLECTION = 'sys/config/ui/custom-messages';
/** A path whose capabilities are those on every message. */
export const ANY_MESSAGE = `${COLLECTION}/any`;

/** Messages on the time line; the table has all. */
const MOST_DRAWN = 20;
const TONES = { active: 'good', scheduled: 'busy', over: 'plain' } as const;

export type Entry = readonly [id: string, message: Message];

const formatTitle = ({ title }: Message): string => (title === '' ? 'untitled' : title);

const DeleteMessage = ({ id, message }: { id: string; message: Message }) => (
  <ActionButton
    label="Delete"
    name={`Delete ${formatTitle(message)}`}
    look="small danger"
    tone="danger"
    title={`Delete the message "${formatTitle(message)}"?`}
    confirm="Delete it"
    act={() => callSecrets('DELETE', `${COLLECTION}/${id}`)}
    commands={[
      secretsCurl('DELETE', `${COLLECTION}/${id}`),
      vaultCommand(`vault delete ${COLLECTION}/${id}`),
    ]}
  >
    <p>Nobody sees it any more, and it cannot be brought back.</p>
  </ActionButton>
);

export const MessageTable = (props: {
  messages: readonly Entry[];
  nowMs: number;
  may: May;
  onEdit: (id: string) => void;
  /** Shown in place of an empty list. */
  empty: string;
}) => {
  const { messages, nowMs, may, onEdit } = props;
  const columns: readonly Column<Entry>[] = [
    { title: 'Title', cell: ([, message]) => <bdi>{formatTitle(message)}</bdi> },
    { title: 'Type', cell: ([, { type }]) => type },
    {
      title: 'State',
      cell: ([, message]) => (
        <Pill tone={TONES[stateOf(message, nowMs)]}>{stateOf(message, nowMs)}</Pill>
      ),
    },
    { title: 'Starts', cell: ([, message]) => formatTime(message.start_time) },
    {
      title: 'Ends',
      cell: ([, message]) => (message.end_time === null ? 'never' : formatTime(message.end_time)),
    },
    {
      title: 'Actions',
      isActions: true,
      cell: ([id, message]) => (
        <>
          {may(ANY_MESSAGE, 'update') && (
            <Button
              look="small"
              aria-label={`Edit ${formatTitle(message)}`}
              onClick={() => onEdit(id)}
            >
              Edit
            </Button>
          )}
          {may(ANY_MESSAGE, 'delete') && <DeleteMessage id={id} message={message} />}
        </>
      ),
    },
  ];
  return (
    <>
      {messages.length > 0 && (
        <Card title="Schedule">
          <ScheduleChart messages={messages.slice(0, MOST_DRAWN)} nowMs={nowMs} />
        </Card>
      )}
      <DataTable
        label="Messages"
        columns={columns}
        rows={messages}
        keyOf={([id]) => id}
        empty={props.empty}
      />
    </>
  );
};
