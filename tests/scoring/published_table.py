"""Published table: rows of LiveTradeBench's Table 2, and curves that have their figures.

Yu, Li and You (2025), arXiv 2511.03628: 50 values of each model, 49 returns.
The values themselves are not printed, so that neither the table nor these
curves can tell ddof 0 from 1; the authors' script says 0.
"""

import numpy as np

from predibot.scoring.arguments import Floats

N_RETURNS = 49
# Model: cumulative return, Sharpe ratio, volatility; shares, not percent.
STOCKS = {
    "Claude-Sonnet-3.7": (0.0363, 1.45, 0.1025),
    "Claude-Sonnet-4": (0.0245, 0.72, 0.1286),
    "Claude-Opus-4": (0.0393, 1.72, 0.0945),
    "Grok-4": (0.0430, 1.75, 0.1043),
    "GPT-4.1": (0.0625, 2.64, 0.1051),
    "GPT-5": (0.0531, 2.19, 0.1060),
    "Gemini-2.5-Pro": (0.0195, 0.61, 0.1098),
    "DeepSeek-R1": (0.0210, 0.78, 0.0911),
}
POLYMARKET = {
    "Claude-Sonnet-3.7": (0.2054, 2.38, 0.4464),
    "Claude-Opus-4.1": (-0.2569, -3.02, 0.4681),
    "Grok-3": (-0.0835, -0.55, 0.5435),
    "Grok-4": (0.0738, 1.01, 0.4692),
    "Qwen2.5-72B-Instruct": (0.0163, 0.43, 0.3036),
    "Llama3.3-70B-Instruct-Turbo": (0.0158, 0.40, 0.3815),
    "DeepSeek-V3.1": (-0.0468, -0.07, 0.6474),
}


def curve_of(cumulative_return: float, annual_volatility: float) -> Floats:
    """Return 50 values with that cumulative return and that volatility: 252 a year, n under the root."""
    shape = np.random.default_rng(1).standard_normal(N_RETURNS)
    noise = (shape - shape.mean()) / shape.std() * annual_volatility / np.sqrt(252.0)
    low, high = -0.1, 0.1
    for _ in range(100):
        mean = (low + high) / 2.0
        too_much = np.prod(1.0 + mean + noise) > 1.0 + cumulative_return
        low, high = (low, mean) if too_much else (mean, high)
    return 1000.0 * np.concatenate([[1.0], np.cumprod(1.0 + mean + noise)])
