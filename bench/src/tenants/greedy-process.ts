/** The load of a greedy tenant, in a process of its own. */
import { answerCommands } from '../child-process.ts';
import { askInTurn, type HttpLoad } from '../http-load.ts';

export interface GreedyLoad {
  readonly load: HttpLoad;
  readonly seconds: number;
}

answerCommands({
  ask: ({ load, seconds }: GreedyLoad) => askInTurn(load, { duration: seconds }),
});
