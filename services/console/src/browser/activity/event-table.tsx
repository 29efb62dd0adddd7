import type { Resource } from '../api/workspaces-api.ts';
import { DataTable } from '../components/data-table.tsx';
import { formatDistance, formatExactTime } from '../components/format.ts';
import { EventLink } from './event-link.tsx';
import { type AuditEvent, actionWords, actorWords, TYPE_WORDS } from './event-words.ts';

/** Events, newest first. */
export const EventTable = (props: {
  organization: string;
  label: string;
  events: readonly Resource<AuditEvent>[];
}) => {
  const { organization, label, events } = props;
  return (
    <DataTable
      label={label}
      rows={events}
      keyOf={({ id }) => id}
      columns={[
        {
          title: 'What',
          isName: true,
          cell: (event) => (
            <>
              {TYPE_WORDS[event.attributes['resource-type']]}{' '}
              <EventLink organization={organization} event={event} />
            </>
          ),
        },
        { title: 'Change', cell: ({ attributes }) => actionWords(attributes) },
        { title: 'Who', cell: ({ attributes }) => actorWords(attributes) },
        {
          title: 'Workspace',
          cell: ({ attributes }) =>
            attributes['resource-type'] === 'workspace'
              ? '–'
              : (attributes['workspace-name'] ?? '–'),
        },
        {
          title: 'When',
          isUnbroken: true,
          cell: ({ attributes: { timestamp } }) => (
            <time dateTime={timestamp} title={formatExactTime(timestamp)}>
              {formatDistance(timestamp, Date.now())}
            </time>
          ),
        },
      ]}
    />
  );
};
