{{- define "keelson.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{ .Values.fullnameOverride | trunc 45 | trimSuffix "-" }}
{{- else if contains "keelson" .Release.Name -}}
{{ .Release.Name | trunc 45 | trimSuffix "-" }}
{{- else -}}
{{ printf "%s-keelson" .Release.Name | trunc 45 | trimSuffix "-" }}
{{- end -}}
{{- end -}}

{{- define "keelson.image" -}}
{{- with .Values.image -}}
{{- $repository := .repository | default (ternary "keelson-agent" "keelson" (eq $.Values.mode "agent")) -}}
{{- if .digest -}}{{ $repository }}@{{ .digest }}{{- else -}}{{ $repository }}:{{ .tag | default $.Chart.AppVersion }}{{- end -}}
{{- end -}}
{{- end -}}

{{/* Of selectors: they cannot change later. Argument: root, component. */}}
{{- define "keelson.selector" -}}
app.kubernetes.io/name: keelson
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "keelson.commonLabels" -}}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "keelson.labels" -}}
{{ include "keelson.commonLabels" .root }}
{{ include "keelson.selector" . }}
{{- end -}}

{{/* Services of the distributed form with a store of their own, separated by spaces. */}}
{{- define "keelson.storeServices" -}}sys pki workspace auth{{- end -}}

{{- define "keelson.edgeComponent" -}}
{{- if eq .Values.mode "standalone" -}}standalone{{- else -}}gateway{{- end -}}
{{- end -}}

{{/* Every pod of Keelson. Argument: root, component. */}}
{{- define "keelson.podMetadata" -}}
labels:
  {{- include "keelson.selector" . | nindent 2 }}
  {{- with .root.Values.podLabels }}{{ toYaml . | nindent 2 }}{{ end }}
{{- with .root.Values.podAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "keelson.podSpec" -}}
serviceAccountName: {{ include "keelson.fullname" . }}
automountServiceAccountToken: false
# The links of a service named keelson would be KEELSON_… variables that Keelson does not know.
enableServiceLinks: false
# A stop takes at most 30 s.
terminationGracePeriodSeconds: 40
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "keelson.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end -}}

{{/* Where a pod runs. Argument: the values of the component. */}}
{{- define "keelson.placement" -}}
{{- with .nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Environment entries: those of the chart, replaced by settings of all processes, then by those of the component.
     Argument: root, own (map of name to value), component. */}}
{{- define "keelson.settings" -}}
{{- $given := index .root.Values .component -}}
{{- $all := mergeOverwrite (deepCopy .own) (deepCopy .root.Values.settings) (deepCopy $given.settings) -}}
{{- range $name, $value := $all }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end -}}

{{- define "keelson.objectStorageSettings" -}}
{{- with .Values.objectStorage }}
{{- if .endpoint }}
- name: KEELSON_OBJECT_STORAGE_ENDPOINT
  value: {{ .endpoint | quote }}
- name: KEELSON_OBJECT_STORAGE_BUCKET
  value: {{ .bucket | quote }}
- name: KEELSON_OBJECT_STORAGE_REGION
  value: {{ .region | quote }}
- name: KEELSON_OBJECT_STORAGE_PREFIX
  value: {{ .prefix | quote }}
{{- $secret := .secretName }}
{{- range $key := list "access-key-id" "secret-access-key" }}
- name: KEELSON_OBJECT_STORAGE_{{ $key | upper | replace "-" "_" }}
  valueFrom:
    secretKeyRef:
      name: {{ $secret }}
      key: {{ $key }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Argument: port, and the period and the failures of a start. */}}
{{- define "keelson.probes" -}}
startupProbe:
  httpGet:
    path: /healthz
    port: {{ .port }}
  periodSeconds: {{ .startPeriod }}
  failureThreshold: {{ .startFailures }}
livenessProbe:
  httpGet:
    path: /healthz
    port: {{ .port }}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet:
    path: /readyz
    port: {{ .port }}
  periodSeconds: 5
  timeoutSeconds: 5
{{- end -}}

{{- define "keelson.edgeTlsSettings" -}}
{{- if .Values.edgeTls.secretName }}
- name: KEELSON_TLS_CERTIFICATE_FILE
  value: /run/edge-tls/tls.crt
- name: KEELSON_TLS_KEY_FILE
  value: /run/edge-tls/tls.key
{{- end }}
{{- end -}}

{{- define "keelson.edgeTlsMount" -}}
{{- if .Values.edgeTls.secretName }}
- name: edge-tls
  mountPath: /run/edge-tls
  readOnly: true
{{- end }}
{{- end -}}

{{- define "keelson.edgeTlsVolume" -}}
{{- with .Values.edgeTls.secretName }}
- name: edge-tls
  secret:
    secretName: {{ . }}
    defaultMode: 0440
{{- end }}
{{- end -}}

{{/* A rule of a NetworkPolicy: names are asked for. */}}
{{- define "keelson.dnsEgress" -}}
- to:
    {{- toYaml .Values.networkPolicy.dns.to | nindent 4 }}
  ports:
    {{- range .Values.networkPolicy.dns.ports }}
    - port: {{ . }}
      protocol: UDP
    - port: {{ . }}
      protocol: TCP
    {{- end }}
{{- end -}}

{{/* The resolver and the edge, for an agent and its runs. */}}
{{- define "keelson.agentEgress" -}}
{{- $dns := .Values.networkPolicy.dns -}}
- to:
    {{- toYaml $dns.to | nindent 4 }}
  ports:
    {{- range $dns.ports }}
    - { port: {{ . }}, protocol: UDP }
    - { port: {{ . }}, protocol: TCP }
    {{- end }}
- to:
    {{- toYaml .Values.agent.edge.to | nindent 4 }}
  ports:
    {{- range .Values.agent.edge.ports }}
    - port: {{ . }}
    {{- end }}
{{- end -}}
