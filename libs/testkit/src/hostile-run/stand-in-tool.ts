/**
 * A stand-in for terraform that executes code of the configuration where terraform does: what git starts during
 * `init`, and providers during `plan` and `apply`. A real one takes some seconds for each run.
 */
import type { Document } from './attempt.ts';

const DEFAULTS: Readonly<Record<Document, string>> = {
  version: `printf '{"terraform_version":"1.9.9","platform":"here"}'`,
  plan: "printf '{}'",
  schema: "printf '{}'",
  state: `printf '{"version":4,"terraform_version":"1.9.9","serial":1,"lineage":"stand-in","outputs":{},"resources":[]}'`,
};

/** File in the configuration with a command of the shell that prints a document. */
export const documentFile = (document: Document): string => `document-${document}`;

const print = (document: Document): string =>
  `if [ -f ./${documentFile(document)} ]; then . ./${documentFile(document)}; else ${DEFAULTS[document]}; fi`;

/** @param real program that executes configurations of terraform's own language */
export const standIn = (real: string): string => `#!/bin/sh
[ -f ./main.tf ] && exec ${real} "$@"
[ -f ./attempt ] || { ${DEFAULTS.version}; exit; }
state="../states/$TF_WORKSPACE/terraform.tfstate"
case "$1" in
version) ${print('version')} ;;
init)
  if [ -f ./init ]; then git ls-remote ssh://git@127.0.0.1:1/module.git; fi
  exit 0 ;;
plan)
  for given in "$@"; do case "$given" in -out=*) plan="\${given#-out=}" ;; esac; done
  sh ./attempt 2>&1
  echo planned > "$plan"
  exit 2 ;;
apply)
  if [ -f ./during-apply ]; then
    sh ./attempt 2>&1
    if [ -f ./${documentFile('state')} ]; then ( ${print('state')} ) > "$state"; fi
  fi
  [ -e "$state" ] || [ -L "$state" ] || ( ${DEFAULTS.state} ) > "$state"
  echo 'Apply complete! Resources: 0 added, 0 changed, 0 destroyed.' ;;
show) if [ -n "$3" ]; then ${print('plan')}; else printf '{}'; fi ;;
providers) ${print('schema')} ;;
esac
`;
