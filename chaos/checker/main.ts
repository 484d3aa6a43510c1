/** `node dist/chaos/checker/main.js FOLDER`: checks the run whose `evidence.json` is in the folder. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { check, INVARIANTS, type CheckResult, type Evidence } from './index';

/** Paths in `evidence.json` are relative to its folder. */
async function readEvidence(folder: string): Promise<Evidence> {
  const evidence = JSON.parse(await readFile(path.join(folder, 'evidence.json'), 'utf8')) as Evidence;
  const inFolder = (file: string): string => path.resolve(folder, file);
  return {
    ...evidence,
    requestLog: inFolder(evidence.requestLog),
    decisionLog: inFolder(evidence.decisionLog),
    reports: evidence.reports.map((report) => ({ ...report, json: inFolder(report.json), csv: inFolder(report.csv) })),
  };
}

function print({ violations, checked, unknown }: CheckResult): void {
  for (const [invariant, sentence] of Object.entries(INVARIANTS)) {
    const found = violations.filter((violation) => violation.invariant === invariant);
    const count = checked[invariant as keyof typeof checked];
    console.log(`${found.length === 0 ? 'holds ' : 'BROKEN'} ${invariant} (${count} checked): ${sentence}`);
    for (const { migration, reference, detail } of found) {
      console.log(`       ${[migration, reference].filter(Boolean).join(' ')}: ${detail}`);
    }
  }
  for (const { migration, reference, truth } of unknown) console.log(`unknown: ${migration} ${reference}: ${truth}`);
}

async function main(folder: string | undefined): Promise<void> {
  if (folder === undefined) throw new Error('specify the folder of a run: it contains evidence.json');
  const result = await check(await readEvidence(folder));
  print(result);
  if (result.violations.length > 0) process.exitCode = 1;
}

main(process.argv[2]).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
});
