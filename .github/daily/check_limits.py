"""Refuse recipes with a model but without a daily limit in dollars."""

import sys

from predibot.errors import PredibotError
from predibot.jobs.schedule.scheduled_recipe import ScheduledRecipe

for argument in sys.argv[1:]:
    try:
        recipe = ScheduledRecipe.read(argument).request.recipe
    except PredibotError as error:
        sys.exit(f"error: {error}")
    limits = recipe.limits.get("day")
    if any(bot.model for bot in recipe.bots) and (limits is None or limits.usd is None):
        sys.exit(f"error: {argument} names a model, and no daily limit. Add [limits.day] and below it usd = 2.0")
