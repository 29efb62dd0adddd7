/**
 * Files of releases before decision 0096: there `record` has a UNIQUE path. The index that SQLite keeps for
 * that is what a table of paths and numbers without rowid is in the file
 * (https://www.sqlite.org/fileformat2.html), so it becomes `record_path` by being declared as it, and
 * no record is written. The index of subpages goes on where it was; before decision 0088 there was none, and
 * it is not whole where such a version has written since.
 */
import type { DatabaseSync } from 'node:sqlite';
import { RECORD_PATH_TABLE } from './sqlite-indexes.ts';
import { RECORD_TABLE } from './sqlite-schema.ts';

/** To be called before the tables are looked for that are not there yet. Killed, it has done nothing. */
export const upgradeFormerLayout = (database: DatabaseSync): void => {
  const index = database
    .prepare("SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_autoindex_record_1'")
    .get();
  if (index === undefined) return;
  database.enableDefensive(false);
  database.exec(`
    BEGIN IMMEDIATE;
    CREATE TABLE IF NOT EXISTS subpage_progress (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      indexed_to INTEGER NOT NULL
    );
    DELETE FROM subpage_progress WHERE EXISTS (
      SELECT 1 FROM sqlite_schema WHERE type = 'index' AND name = 'record_subpage');
    DROP INDEX IF EXISTS record_subpage;
    ALTER TABLE subpage_progress RENAME TO index_progress;
    PRAGMA writable_schema = ON;
    UPDATE sqlite_schema SET sql = 'CREATE TABLE ${RECORD_TABLE}' WHERE name = 'record';
    UPDATE sqlite_schema
      SET type = 'table', name = 'record_path', tbl_name = 'record_path',
          sql = 'CREATE TABLE ${RECORD_PATH_TABLE}'
      WHERE name = 'sqlite_autoindex_record_1';
    COMMIT;
    PRAGMA writable_schema = RESET`);
  database.enableDefensive(true);
};
