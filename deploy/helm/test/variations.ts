/** Every value of the chart with another value than its default, and what then is in the manifests. */
export interface Variation {
  readonly value: unknown;
  /** Other values, without which this one has no effect. */
  readonly within?: Readonly<Record<string, unknown>>;
  /** In the manifests with the value, and not without it. */
  readonly shows: RegExp;
}

const distributed = { mode: 'distributed' };
const SELECTOR = { disk: 'fast' };
const TOLERATION = [{ key: 'dedicated', operator: 'Exists' }];
const AFFINITY = {
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['a'] }] }],
    },
  },
};
const RESOURCES = { requests: { cpu: '333m' }, limits: { memory: '3Gi' } };
const REQUESTS_PER_POD = [
  {
    type: 'Pods',
    pods: {
      metric: { name: 'keelson_http_requests_per_second' },
      target: { type: 'AverageValue', averageValue: '500' },
    },
  },
];

const agent = { mode: 'agent' };

const placement = (component: string): Readonly<Record<string, Variation>> => {
  const within = { standalone: {}, agent }[component] ?? distributed;
  return {
    [`${component}.settings`]: {
      value: { KEELSON_LOG_LEVEL: 'warn' },
      within,
      shows: /name: KEELSON_LOG_LEVEL\n +value: "warn"/,
    },
    [`${component}.resources`]: { value: RESOURCES, within, shows: /cpu: 333m/ },
    [`${component}.nodeSelector`]: { value: SELECTOR, within, shows: /disk: fast/ },
    [`${component}.tolerations`]: { value: TOLERATION, within, shows: /key: dedicated/ },
    [`${component}.affinity`]: { value: AFFINITY, within, shows: /nodeAffinity:/ },
  };
};

const service = (component: string): Readonly<Record<string, Variation>> => {
  const scaled = { ...distributed, [component]: { autoscaling: { enabled: true } } };
  return {
    ...placement(component),
    [`${component}.replicas`]: { value: 7, within: distributed, shows: /replicas: 7/ },
    [`${component}.secretName`]: {
      value: 'other',
      within: distributed,
      shows: /secretName: other\n/,
    },
    [`${component}.autoscaling.enabled`]: {
      value: true,
      within: distributed,
      shows: new RegExp(
        `kind: HorizontalPodAutoscaler\\nmetadata:\\n  name: keelson-${component}\\n`,
      ),
    },
    [`${component}.autoscaling.minReplicas`]: { value: 3, within: scaled, shows: /minReplicas: 3/ },
    [`${component}.autoscaling.maxReplicas`]: { value: 9, within: scaled, shows: /maxReplicas: 9/ },
    [`${component}.autoscaling.cpuUtilization`]: {
      value: 55,
      within: scaled,
      shows: /averageUtilization: 55/,
    },
    [`${component}.autoscaling.metrics`]: {
      value: REQUESTS_PER_POD,
      within: scaled,
      shows: /name: keelson_http_requests_per_second/,
    },
  };
};

const ingress = { ingress: { enabled: true } };
const route = { httpRoute: { enabled: true, parentRefs: [{ name: 'edge' }] } };
const objectStorage = { objectStorage: { endpoint: 'https://s3.example.com' } };
const monitor = { serviceMonitor: { enabled: true } };
const backup = { backup: { enabled: true } };
const DIGEST = `sha256:${'0'.repeat(64)}`;

export const VARIATIONS: Readonly<Record<string, Variation>> = {
  mode: { value: 'distributed', shows: /name: keelson-pki/ },
  'image.repository': {
    value: 'registry.example/keelson',
    shows: /image: registry\.example\/keelson:/,
  },
  'image.tag': { value: '9', shows: /image: keelson:9\n/ },
  'image.digest': { value: DIGEST, shows: new RegExp(`image: keelson@${DIGEST}`) },
  'image.pullPolicy': { value: 'Always', shows: /imagePullPolicy: Always/ },
  imagePullSecrets: {
    value: [{ name: 'registry' }],
    shows: /imagePullSecrets:\n +- name: registry/,
  },
  fullnameOverride: { value: 'plane', shows: /serviceName: plane\n/ },
  settings: {
    value: { KEELSON_PUBLIC_URL: 'https://k.example' },
    shows: /value: "https:\/\/k\.example"/,
  },
  podLabels: { value: { team: 'infra' }, shows: /team: infra/ },
  podAnnotations: { value: { note: 'seen' }, shows: /note: seen/ },
  ...placement('standalone'),
  'standalone.persistence.size': { value: '77Gi', shows: /storage: 77Gi/ },
  'standalone.persistence.storageClass': { value: 'ssd', shows: /storageClassName: ssd/ },
  'standalone.persistence.accessModes': { value: ['ReadWriteOnce'], shows: /- ReadWriteOnce\n/ },
  ...service('gateway'),
  ...service('sys'),
  ...service('pki'),
  ...service('workspace'),
  ...service('auth'),
  'sys.unsealKey': {
    value: false,
    within: distributed,
    // Nothing but the CA and the nkey for NATS is left in the volume.
    shows:
      /- key: internal-ca\.pem\n +path: internal-ca\.pem\n +- key: nats\.nkey\n +path: nats\.nkey\n(?! +- key)/,
  },
  'workspace.runnerToken': {
    value: false,
    within: distributed,
    shows: /- key: bootstrap-token\n +path: bootstrap-token\n(?! +- key)/,
  },
  ...placement('agent'),
  'agent.replicas': { value: 7, within: agent, shows: /replicas: 7/ },
  'agent.address': {
    value: 'https://k.example',
    within: agent,
    shows: /name: KEELSON_AGENT_ADDRESS\n +value: "https:\/\/k\.example"/,
  },
  'agent.secretName': { value: 'pool', within: agent, shows: /secretName: pool\n/ },
  'agent.edge.to': {
    value: [{ ipBlock: { cidr: '10.0.0.9/32' } }],
    within: agent,
    shows: /cidr: 10\.0\.0\.9\/32/,
  },
  'agent.edge.ports': { value: [8443], within: agent, shows: /- port: 8443\n/ },
  'agent.runs.namespace': { value: 'phases', within: agent, shows: /namespace: phases\n/ },
  'agent.runs.createNamespace': {
    value: false,
    within: agent,
    shows: /^(?![^]*kind: Namespace\n)/,
  },
  'agent.runs.image': { value: 'tools:1', within: agent, shows: /"image\\":\\"tools:1/ },
  'agent.runs.resources': { value: RESOURCES, within: agent, shows: /333m/ },
  'agent.runs.folderSize': { value: '77Gi', within: agent, shows: /folderSize\\":\\"77Gi/ },
  'agent.runs.deadlineSeconds': {
    value: 77,
    within: agent,
    shows: /deadlineSeconds\\":77/,
  },
  'agent.runs.labels': { value: { team: 'infra' }, within: agent, shows: /team\\":\\"infra/ },
  'agent.runs.nodeSelector': { value: SELECTOR, within: agent, shows: /disk\\":\\"fast/ },
  'agent.runs.tolerations': { value: TOLERATION, within: agent, shows: /key\\":\\"dedicated/ },
  'agent.runs.extraEgress': {
    value: [{ ports: [{ port: 5432 }] }],
    within: agent,
    shows: /- port: 5432/,
  },
  'service.type': { value: 'LoadBalancer', shows: /type: LoadBalancer/ },
  'service.annotations': { value: { pool: 'public' }, shows: /pool: public/ },
  'edgeTls.secretName': { value: 'edge', shows: /secretName: edge\n/ },
  'networkPolicy.enabled': { value: false, shows: /^(?![^]*kind: NetworkPolicy)/ },
  'networkPolicy.clients': {
    value: [{ namespaceSelector: { matchLabels: { team: 'edge' } } }],
    shows: /from:\n +- namespaceSelector:\n +matchLabels:\n +team: edge/,
  },
  'networkPolicy.dns.to': {
    value: [{ ipBlock: { cidr: '10.0.0.10/32' } }],
    shows: /- ipBlock:\n +cidr: 10\.0\.0\.10\/32\n +ports:\n +- port: 53/,
  },
  'networkPolicy.dns.ports': { value: [5353], shows: /- port: 5353\n +protocol: UDP/ },
  'networkPolicy.stores.postgres': { value: [6432], within: distributed, shows: /- port: 6432\n/ },
  'networkPolicy.stores.redis': {
    value: [6379, 26379],
    within: distributed,
    shows: /- port: 26379\n/,
  },
  'networkPolicy.stores.nats': { value: [4223], shows: /- port: 4223\n/ },
  'networkPolicy.extraEgress': {
    value: [{ ports: [{ port: 4318 }] }],
    shows: /- ports:\n +- port: 4318/,
  },
  'ingress.enabled': { value: true, shows: /kind: Ingress\n/ },
  'ingress.className': { value: 'nginx', within: ingress, shows: /ingressClassName: nginx/ },
  'ingress.annotations': { value: { size: '5m' }, within: ingress, shows: /size: 5m/ },
  'ingress.host': { value: 'k.example', within: ingress, shows: /host: k\.example/ },
  'ingress.tlsSecretName': { value: 'k-tls', within: ingress, shows: /secretName: k-tls/ },
  'httpRoute.enabled': {
    value: true,
    within: { httpRoute: { parentRefs: [{ name: 'edge' }] } },
    shows: /kind: HTTPRoute/,
  },
  'httpRoute.parentRefs': { value: [{ name: 'front' }], within: route, shows: /- name: front/ },
  'httpRoute.hostnames': { value: ['k.example'], within: route, shows: /- k\.example/ },
  'serviceMonitor.enabled': { value: true, shows: /kind: ServiceMonitor/ },
  'serviceMonitor.interval': { value: '15s', within: monitor, shows: /interval: 15s/ },
  'serviceMonitor.labels': { value: { release: 'prom' }, within: monitor, shows: /release: prom/ },
  'serviceMonitor.tokenSecret.name': {
    value: 'metrics',
    within: monitor,
    shows: /name: metrics\n +key: token/,
  },
  'serviceMonitor.tokenSecret.key': {
    value: 'bearer',
    within: { serviceMonitor: { enabled: true, tokenSecret: { name: 'metrics' } } },
    shows: /key: bearer/,
  },
  'objectStorage.endpoint': {
    value: 'https://s3.example.com',
    shows: /name: KEELSON_OBJECT_STORAGE_ENDPOINT\n +value: "https:\/\/s3.example.com"/,
  },
  'objectStorage.bucket': { value: 'bodies', within: objectStorage, shows: /value: "bodies"/ },
  'objectStorage.region': { value: 'eu-1', within: objectStorage, shows: /value: "eu-1"/ },
  'objectStorage.prefix': { value: 'main/', within: objectStorage, shows: /value: "main\/"/ },
  'objectStorage.secretName': {
    value: 'other',
    within: { ...objectStorage, mode: 'distributed' },
    shows: /name: other\n +key: secret-access-key/,
  },
  'backup.enabled': { value: true, shows: /kind: CronJob/ },
  'backup.schedule': { value: '5 4 * * *', within: backup, shows: /schedule: "5 4 \* \* \*"/ },
  'backup.keep': { value: 3, within: backup, shows: /--keep=3\n/ },
  'backup.tokenSecret.name': { value: 'other', within: backup, shows: /name: other\n +key: token/ },
  'backup.tokenSecret.key': { value: 'snapshot', within: backup, shows: /key: snapshot/ },
  'backup.persistence.existingClaim': {
    value: 'snapshots',
    within: backup,
    shows: /claimName: snapshots/,
  },
  'backup.persistence.size': { value: '50Gi', within: backup, shows: /storage: 50Gi/ },
  'backup.persistence.storageClass': {
    value: 'slow',
    within: backup,
    shows: /storageClassName: slow/,
  },
  'backup.resources': { value: RESOURCES, within: backup, shows: /cpu: 333m/ },
};
