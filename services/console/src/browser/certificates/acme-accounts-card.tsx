/** Accounts of ACME clients with their orders. */
import { useState } from 'react';
import { useCapabilities, useSecret, useSecretList } from '../api/queries.ts';
import { callSecrets } from '../api/secrets-api.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Button } from '../components/button.tsx';
import { Commands, secretsCurl, vaultCommand } from '../components/commands.tsx';
import { DataTable } from '../components/data-table.tsx';
import { formatTime, inWords } from '../components/format.ts';
import { Loaded } from '../components/loaded.tsx';
import { Card } from '../components/page.tsx';
import { Pill, type Tone } from '../components/pill.tsx';
import { Code, PartHeading } from '../components/text.tsx';
import { CertificateLink } from './certificate-link.tsx';

interface Account {
  readonly status: string;
  readonly contacts: readonly string[];
  readonly created_time: string;
  readonly directory: string;
  readonly eab: { readonly eab_id?: string };
}

interface Order {
  readonly order_id: string;
  readonly status: string;
  readonly identifiers: readonly string[];
  readonly cert_serial_number: string;
  readonly order_expiry: string;
}

const TONES: Readonly<Record<string, Tone>> = {
  valid: 'good',
  ready: 'accent',
  pending: 'busy',
  processing: 'busy',
  invalid: 'bad',
  revoked: 'bad',
};
/** Accounts that one page reads. */
const MOST = 1000;

const formatContacts = ({ contacts }: Account): string =>
  contacts.map((contact) => contact.replace(/^mailto:/, '')).join(', ') || '–';

const Orders = ({ mount, id, name }: { mount: string; id: string; name: string }) => {
  const path = `${mount}/acme/mgmt/account/keyid/${id}`;
  const query = useSecret<Account & { readonly orders: readonly Order[] }>(path);
  return (
    <section aria-label={`Orders of ${name}`}>
      <PartHeading>Orders of {name}</PartHeading>
      <Loaded query={query}>
        {(account) => (
          <DataTable
            label="Orders"
            rows={account?.orders ?? []}
            keyOf={(order) => order.order_id}
            empty="It has no order."
            columns={[
              { title: 'Names', isName: true, cell: (order) => order.identifiers.join(', ') },
              {
                title: 'State',
                cell: ({ status }) => <Pill tone={TONES[status] ?? 'plain'}>{status}</Pill>,
              },
              { title: 'Open until', cell: (order) => formatTime(order.order_expiry) },
              {
                title: 'Certificate',
                cell: ({ cert_serial_number: serial }) =>
                  serial === '' ? '–' : <CertificateLink mount={mount} serial={serial} />,
              },
            ]}
          />
        )}
      </Loaded>
      <Commands
        title={`Orders of ${name}`}
        commands={[secretsCurl('GET', path), vaultCommand(`vault read ${path}`)]}
      />
    </section>
  );
};

const SetStatus = (props: { path: string; name: string; isOpen: boolean }) => {
  const { path, name, isOpen } = props;
  const body = { status: isOpen ? 'revoked' : 'valid' };
  const verb = isOpen ? 'Close' : 'Open again';
  return (
    <ActionButton
      label={verb}
      name={`${verb}: ${name}`}
      look={isOpen ? 'small danger' : 'small'}
      tone={isOpen ? 'danger' : undefined}
      title={isOpen ? 'Close this account?' : 'Open this account again?'}
      confirm={isOpen ? 'Close it' : 'Open it'}
      act={() => callSecrets('POST', path, { body })}
      commands={[
        secretsCurl('POST', path, body),
        vaultCommand(`vault write ${path} status=${body.status}`),
      ]}
    >
      <p>
        {isOpen
          ? 'Its client gets no certificate any more. The ones it has stay valid until they expire or are revoked.'
          : 'Its client may order certificates again.'}
      </p>
    </ActionButton>
  );
};

export const AcmeAccountsCard = ({ mount }: { mount: string }) => {
  const [shown, setShown] = useState<string>();
  const path = `${mount}/acme/mgmt/account/keyid`;
  const query = useSecretList<Account>(`${path}?limit=${MOST}`);
  const may = useCapabilities([`${path}/one`]);
  return (
    <Card title="ACME accounts">
      <Loaded query={query}>
        {({ keys, infos }) => (
          <DataTable
            label="ACME accounts"
            rows={keys.flatMap((id) => {
              const account = infos[id];
              return account === undefined ? [] : [{ id, account }];
            })}
            keyOf={({ id }) => id}
            empty="No client has opened an account."
            columns={[
              {
                title: 'Account',
                isName: true,
                cell: ({ id }) => <Code isSmall>{id}</Code>,
              },
              { title: 'Contacts', cell: ({ account }) => formatContacts(account) },
              {
                title: 'State',
                cell: ({ account: { status } }) => (
                  <Pill tone={TONES[status] ?? 'plain'}>{inWords(status)}</Pill>
                ),
              },
              { title: 'Directory', cell: ({ account }) => account.directory },
              { title: 'Key', cell: ({ account }) => account.eab.eab_id ?? 'none' },
              { title: 'Made', cell: ({ account }) => formatTime(account.created_time) },
              {
                title: 'Actions',
                isActions: true,
                cell: ({ id, account }) => (
                  <>
                    {may(`${path}/one`, 'read') && (
                      <Button
                        look="small"
                        aria-label={`Show orders of ${id}`}
                        onClick={() => setShown(id)}
                      >
                        Show orders
                      </Button>
                    )}
                    {may(`${path}/one`, 'update') && account.status !== 'deactivated' && (
                      <SetStatus
                        path={`${path}/${id}`}
                        name={id}
                        isOpen={account.status === 'valid'}
                      />
                    )}
                  </>
                ),
              },
            ]}
          />
        )}
      </Loaded>
      {shown !== undefined && <Orders key={shown} mount={mount} id={shown} name={shown} />}
      <Commands
        commands={[secretsCurl('GET', `${path}?list=true`), vaultCommand(`vault list ${path}`)]}
      />
    </Card>
  );
};
