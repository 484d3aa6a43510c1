/** Tests `--shred`, which overwrites and removes the client's credential file once all its credentials are stored. */
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { useOrchestratorWithWorker } from '../../support/servers/orchestrator';
import { ferry } from '../captured-terminal';
import { runJson } from '../command-line';
import { temporaryFolder } from '../../support/temporary-folder';

const orchestrator = useOrchestratorWithWorker();
const folder = temporaryFolder();
const ID = 'shredder.zoho-books';

const writeLines = (name: string, lines: readonly string[]): string => {
  const file = path.join(folder, name);
  writeFileSync(file, lines.join('\n'));
  return file;
};
const credentialsOf = (name: string, references: readonly string[]): string =>
  writeLines(name, [
    'reference,accessToken,refreshToken,organizationId,region',
    ...references.map(
      (reference) => `${reference},access-${reference},sbx-ok-1.shred-${reference},org-${reference},eu`,
    ),
  ]);
const manifest = (): string =>
  writeLines('manifest.csv', ['reference,name,organizationId', 'Z-1,One,org-Z-1', 'Z-2,Two,org-Z-2']);

test('start --shred deletes the credential file once its credentials are stored, and keeps the manifest', async () => {
  const [rows, credentials] = [manifest(), credentialsOf('with-start.csv', ['Z-1', 'Z-2'])];
  const { exitCode, json } = await runJson(
    orchestrator,
    ...['start', rows, '--platform', 'zoho-books', '--client', 'shredder', '-c', credentials, '--shred'],
  );
  expect({ exitCode, json }).toMatchObject({ exitCode: 0, json: { credentialsStored: 2, shredded: true } });
  expect([existsSync(rows), existsSync(credentials)]).toEqual([true, false]);
});

test('start --shred fails, and keeps a manifest that contains no credentials', async () => {
  const rows = writeLines('no-credentials.csv', ['reference,name,organizationId', 'Z-5,Five,org-Z-5']);
  const start = ['start', rows, '--platform', 'zoho-books', '--client', 'empty', '--shred'];
  const { exitCode, out } = await ferry(start, undefined, orchestrator.env);
  expect(exitCode).toBe(1);
  expect(out).toContain(
    `✗ ${rows} was kept, because it contains no credentials, or not all of them have been accepted`,
  );
  expect(existsSync(rows)).toBe(true);
});

test('credentials --shred fails, and keeps a file that was not stored completely', async () => {
  const file = credentialsOf('too-many.csv', ['Z-1', 'Z-9']);
  const { exitCode, out } = await ferry(['credentials', ID, file, '--shred'], undefined, orchestrator.env);
  expect(exitCode).toBe(1);
  expect(out).toContain('1 of 2 credentials sealed and stored');
  expect(out).toContain(
    `✗ ${file} was kept, because it contains no credentials, or not all of them have been accepted`,
  );
  expect(existsSync(file)).toBe(true);
});

test('credentials without --shred says nothing about a file that was not stored completely', async () => {
  const file = credentialsOf('too-many-unshredded.csv', ['Z-1', 'Z-9']);
  const { exitCode, out } = await ferry(['credentials', ID, file], undefined, orchestrator.env);
  expect(exitCode).toBe(1);
  expect(out).toContain('1 of 2 credentials sealed and stored');
  expect(out).not.toContain('was kept');
  expect(existsSync(file)).toBe(true);
});

test.each([
  ['no', false, 'still contains credentials in plain text. Delete it and all copies.'],
  ['yes', true, 'was overwritten and removed'],
])('credentials asks on a terminal whether to remove the file: %s', async (_, answer, message) => {
  const file = credentialsOf('asked.csv', ['Z-1', 'Z-2']);
  const questions: string[] = [];
  const confirm = async (question: string): Promise<boolean> => {
    questions.push(question);
    return answer;
  };
  const { exitCode, out } = await ferry(['credentials', ID, file], 120, orchestrator.env, { confirm });
  expect(exitCode).toBe(0);
  expect(questions).toEqual([`All credentials in ${file} have been sealed and stored. Overwrite and remove the file?`]);
  expect(out).toContain(`${file} ${answer ? 'was' : 'still contains credentials in plain text'}`);
  expect(out).toContain(message);
  expect(existsSync(file)).toBe(!answer);
});

test('credentials keeps the file if there is no terminal on which to ask', async () => {
  const file = credentialsOf('unasked.csv', ['Z-1']);
  expect((await runJson(orchestrator, 'credentials', ID, file)).json).toMatchObject({ shredded: false });
  expect((await ferry(['credentials', ID, file], undefined, orchestrator.env)).out).toContain(
    `${file} still contains credentials in plain text`,
  );
  expect(existsSync(file)).toBe(true);
});
