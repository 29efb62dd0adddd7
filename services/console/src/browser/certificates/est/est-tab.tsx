/** Enrolment of devices by EST (RFC 7030): whether and how this authority serves it, and at which addresses. */
import { getRouteApi } from '@tanstack/react-router';
import { useCapabilities, useSecret } from '../../api/queries.ts';
import { Commands, secretsCurl, vaultCommand } from '../../components/commands.tsx';
import { FactList } from '../../components/fact-list.tsx';
import { FormActions } from '../../components/fields.tsx';
import { formatTime } from '../../components/format.ts';
import { Loaded } from '../../components/loaded.tsx';
import { Card } from '../../components/page.tsx';
import { Pill } from '../../components/pill.tsx';
import { Hint } from '../../components/text.tsx';
import { EditButton } from '../../editing/edit-button.tsx';
import { secretTarget } from '../../editing/edit-target.ts';
import { EstAddresses } from './est-addresses.tsx';
import { AUDIT_FIELDS, changedEst, type EstConfig, estValues } from './est-config.ts';
import { EstFields } from './est-fields.tsx';

const route = getRouteApi('/ui/certificates/$mount');

const authenticationWords = ({ authenticators: { cert, userpass } }: EstConfig): string => {
  const issuers = cert?.issuers ?? [];
  const ofIssuers = issuers.length === 0 ? '' : ` of ${issuers.join(', ')}`;
  const ofRole = cert?.cert_role ? `, by the role ${cert.cert_role}` : '';
  const words = [
    ...(userpass === undefined ? [] : ['with a token']),
    ...(cert === undefined ? [] : [`with a certificate${ofIssuers}${ofRole}`]),
  ];
  return words.join(' or ') || 'nobody by EST itself';
};

export const EstTab = () => {
  const { mount } = route.useParams();
  const path = `${mount}/config/est`;
  const query = useSecret<EstConfig>(path);
  const may = useCapabilities([path]);
  const isEnabled = query.data?.enabled === true;
  return (
    <>
      <Card
        title="EST"
        actions={<Pill tone={isEnabled ? 'good' : 'plain'}>{isEnabled ? 'on' : 'off'}</Pill>}
      >
        <Hint>
          Enrolment over Secure Transport: a device fetches the certificates of the authority, gets
          its own for a certificate request, and renews it.
        </Hint>
        <Loaded query={query}>
          {(config) =>
            config !== null && (
              <FactList
                facts={[
                  [
                    'Requests without a label',
                    config.default_mount ? 'come here' : 'do not come here',
                  ],
                  ['Who may enroll', authenticationWords(config)],
                  [
                    'Written to the audit log',
                    AUDIT_FIELDS.filter(([field]) => config.audit_fields.includes(field))
                      .map(([, words]) => words)
                      .join(', ') || 'no field of a request',
                  ],
                  ['Last changed', formatTime(config.last_updated)],
                ]}
              />
            )
          }
        </Loaded>
        {may(path, 'update') && (
          <FormActions>
            <EditButton
              edits="est"
              label="Change EST"
              title="How devices enroll by EST"
              target={secretTarget<EstConfig>(path)}
              valuesOf={estValues}
              bodyOf={changedEst}
              fields={(values) => <EstFields mount={mount} values={values} />}
              commands={() => [
                vaultCommand(
                  `vault write ${path} enabled=true default_mount=true default_path_policy=role:NAME`,
                ),
              ]}
            />
          </FormActions>
        )}
        <Commands commands={[secretsCurl('GET', path), vaultCommand(`vault read ${path}`)]} />
      </Card>
      {query.data && (
        <Card title="Addresses for devices">
          <EstAddresses config={query.data} />
        </Card>
      )}
    </>
  );
};
