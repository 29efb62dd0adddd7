/** The service that decides about certificates in place of roles: how it is reached, and how it answers. */
import { getRouteApi } from '@tanstack/react-router';
import { mountAddress } from '../../api/mount-address.ts';
import { useCapabilities, useSecret } from '../../api/queries.ts';
import { Commands, secretsCurl, vaultCommand } from '../../components/commands.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { Details, Summary } from '../../components/details.tsx';
import { FactList } from '../../components/fact-list.tsx';
import { FormActions, Input, Label, Pair, TextArea } from '../../components/fields.tsx';
import { formatTime } from '../../components/format.ts';
import { Lifetime } from '../../components/lifetime.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Card } from '../../components/page.tsx';
import { Pill } from '../../components/pill.tsx';
import { Code, Hint } from '../../components/text.tsx';
import { Choice } from '../../editing/choice.tsx';
import { EditButton } from '../../editing/edit-button.tsx';
import { secretTarget } from '../../editing/edit-target.ts';
import {
  changedPolicy,
  type PolicyService,
  type PolicyValues,
  policyValues,
  timeoutSeconds,
} from './policy-service.ts';

const route = getRouteApi('/ui/certificates/$mount');

const PATHS = [
  ['issue', 'A key and its certificate'],
  ['sign', 'A certificate for a request'],
  ['sign-intermediate', 'An authority below'],
] as const;

const countOf = (pem: string): number => pem.split('BEGIN CERTIFICATE').length - 1;

const certificateWords = (pem: string): string => {
  const count = countOf(pem);
  return count === 0 ? '–' : `${count} ${count === 1 ? 'certificate' : 'certificates'}`;
};

const PemField = (props: { name: keyof PolicyValues; label: string; value: string }) => (
  <Label>
    {props.label}
    <TextArea name={props.name} isCode rows={3} spellCheck={false} defaultValue={props.value} />
  </Label>
);

const ServiceFields = ({ values, hasClient }: { values: PolicyValues; hasClient: boolean }) => (
  <>
    <Choice name="enabled" isTicked={values.enabled}>
      The service decides about requests that ask for it
    </Choice>
    <Pair>
      <Label>
        Address of the service
        <Input
          name="external_service_url"
          type="url"
          autoComplete="off"
          placeholder="https://policy.example/decide"
          defaultValue={values.external_service_url}
        />
      </Label>
      <Lifetime name="timeout" required label="It answers within" value={values.timeout} />
    </Pair>
    <PemField
      name="trusted_ca"
      label="Authorities that its certificate comes from, in PEM"
      value={values.trusted_ca}
    />
    <PemField
      name="trusted_leaf_certificate_bundle"
      label="Or the certificates that it may have, in PEM"
      value={values.trusted_leaf_certificate_bundle}
    />
    <PemField
      name="vault_client_cert_bundle"
      label={
        hasClient
          ? 'Certificate and private key shown to it, in PEM (the key is not shown; both stay unless new ones are entered)'
          : 'Certificate and private key shown to it, in PEM (optional)'
      }
      value={values.vault_client_cert_bundle}
    />
    {hasClient && (
      <Choice name="removes_client_certificate" isTicked={values.removes_client_certificate}>
        Show it no certificate any more
      </Choice>
    )}
    <Details hasFields>
      <Summary>What it learns of the requester</Summary>
      <Label>
        About the entity, as a JMESPath (empty: nothing, @: everything)
        <Input name="entity_jmespath" autoComplete="off" defaultValue={values.entity_jmespath} />
      </Label>
      <Label>
        About its groups, as a JMESPath
        <Input name="group_jmespath" autoComplete="off" defaultValue={values.group_jmespath} />
      </Label>
    </Details>
  </>
);

/** How the service has answered since its settings were changed, as the answering replica knows. */
const Answers = ({ service }: { service: PolicyService }) => (
  <FactList
    facts={[
      [
        'State',
        service.last_failure !== '' ? (
          <Pill key="state" tone="bad">
            does not answer
          </Pill>
        ) : (
          <Pill key="state" tone={service.external_service_validated ? 'good' : 'plain'}>
            {service.external_service_validated ? 'has answered' : 'not asked yet'}
          </Pill>
        ),
      ],
      ...(service.last_failure === '' ? [] : [['Fault', service.last_failure] as const]),
      ['Last answer', formatTime(service.last_successful_request)],
      ['Last request that failed', formatTime(service.last_failed_request)],
      ['Settings changed', formatTime(service.external_service_last_updated)],
    ]}
  />
);

const Addresses = ({ mount }: { mount: string }) => (
  <FactList
    facts={[
      ...PATHS.map(([path, words]) => {
        const address = `${mountAddress(mount)}/external-policy/${path}`;
        return [
          words,
          <span key={path}>
            <Code>{address}</Code>{' '}
            <CopyButton text={address} label={`Copy the address of ${path}`} />
          </span>,
        ] as const;
      }),
      [
        'ACME',
        <span key="acme">
          <Code>{`${mountAddress(mount)}/external-policy/acme/directory`}</Code>{' '}
          <CopyButton
            text={`${mountAddress(mount)}/external-policy/acme/directory`}
            label="Copy the address of ACME"
          />
        </span>,
      ],
    ]}
  />
);

export const PolicyTab = () => {
  const { mount } = route.useParams();
  const path = `${mount}/config/external-policy`;
  const query = useSecret<PolicyService>(path);
  const may = useCapabilities([path]);
  const isEnabled = query.data?.enabled === true;
  return (
    <>
      <Card
        title="External policy"
        actions={<Pill tone={isEnabled ? 'good' : 'plain'}>{isEnabled ? 'on' : 'off'}</Pill>}
      >
        <Hint>
          A service of your own decides which certificates are issued, in place of roles. It never
          gets a private key, and its decision is checked before it is signed.
        </Hint>
        <Loaded query={query}>
          {(service) =>
            service !== null && (
              <FactList
                facts={[
                  ['Address', service.external_service_url || '–'],
                  ['It answers within', `${timeoutSeconds(service)} s`],
                  ['Trusted authorities', certificateWords(service.trusted_ca)],
                  [
                    'Trusted certificates',
                    certificateWords(service.trusted_leaf_certificate_bundle),
                  ],
                  [
                    'Shown to it by this authority',
                    certificateWords(service.vault_client_cert_bundle_no_keys),
                  ],
                  ['Learns of the entity', service.entity_jmespath || 'nothing'],
                  ['Learns of its groups', service.group_jmespath || 'nothing'],
                ]}
              />
            )
          }
        </Loaded>
        {may(path, 'update') && (
          <FormActions>
            <EditButton
              edits="policy-service"
              label="Change the service"
              title="The service that decides"
              target={secretTarget<PolicyService>(path)}
              valuesOf={policyValues}
              bodyOf={changedPolicy}
              fields={(values, service) => (
                <ServiceFields
                  values={values}
                  hasClient={service.vault_client_cert_bundle_no_keys !== ''}
                />
              )}
              commands={() => [
                vaultCommand(
                  `vault write ${path} enabled=true external_service_url=https://… trusted_ca=@ca.pem`,
                ),
              ]}
            />
          </FormActions>
        )}
        <Commands commands={[secretsCurl('GET', path), vaultCommand(`vault read ${path}`)]} />
      </Card>
      {query.data && (
        <Card title="Its answers">
          <Answers service={query.data} />
        </Card>
      )}
      {isEnabled && (
        <Card title="Addresses that ask it">
          <Addresses mount={mount} />
          <Commands
            commands={[
              secretsCurl('POST', `${mount}/external-policy/issue`, {
                common_name: 'www.example.com',
              }),
              vaultCommand(
                `vault write ${mount}/external-policy/issue common_name=www.example.com`,
              ),
            ]}
          />
        </Card>
      )}
    </>
  );
};
