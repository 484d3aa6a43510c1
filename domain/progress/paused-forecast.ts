/** The forecast while the Schedule is paused: its end must not need a window that nobody opens. */
import { continuationOf } from './continuation';
import { liveForecastOf, withLiveCounts, type Forecast, type LiveFigures } from './forecast';
import { isOpenWithoutEnd, openWindowOf } from './open-window';
import type { Progress } from './progress';

/**
 * Adapts a forecast to a paused Schedule, which opens no further window. Returns the forecast unchanged if the moves
 * end in the open window, or if all of them have begun; without an end if they need a further window. Returns null if
 * no move can begin now, because the end then depends on a person.
 *
 * @param isBatchRunning whether a batch run is in progress
 * @param now ISO 8601, UTC
 */
export function forecastWhilePaused(
  progress: Progress,
  forecast: Forecast,
  isBatchRunning: boolean,
  now: string,
): Forecast | null {
  const { windows, counts } = progress;
  if (forecast.companies <= counts.importing + counts.syncing) return forecast;
  if (isOpenWithoutEnd(progress, windows, isBatchRunning)) return forecast;
  if (openWindowOf(progress, windows, isBatchRunning, now) === null) return null;
  return continuationOf(progress, forecast, now) === null ? forecast : { ...forecast, ends: null, staleMs: null };
}

/**
 * Returns {@link liveForecastOf}. If the workflow knows that no further window opens, the forecast has no end that
 * needs one.
 *
 * @param live null if the ledger was not read
 * @param now ISO 8601, UTC
 */
export function knownForecast(progress: Progress, live: LiveFigures | null, now: string): Forecast | null {
  const forecast = liveForecastOf(progress, live, now);
  if (forecast === null || !progress.noFurtherWindow) return forecast;
  return forecastWhilePaused(withLiveCounts(progress, live), forecast, true, now);
}
