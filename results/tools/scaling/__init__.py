"""How a sweep scales: measured on this machine, simulated beyond it."""
